/** The kinds of text that differ between otherwise equal requests. */
export type VolatileKind = 'attribution' | 'id' | 'time' | 'date' | 'timestamp' | 'uuid'

interface VolatilePattern {
  /** global; never matches the empty text */
  readonly regExp: RegExp
  /** what a match is; undefined if its words suggest that it does not vary */
  kindOf(match: RegExpExecArray): VolatileKind | undefined
}

/*
 * Every repetition is bounded, and every pattern begins with a fixed word or a digit, so that a search takes linear
 * time. The forms are those of Claude Code, Open WebUI, AnythingLLM, Cline, Codex, Gemini CLI, the Llama templates and
 * similar.
 */

const WEEKDAY =
  '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)'
const MONTH =
  '(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\\.?'
const DAY = [
  '\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}',
  '\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}',
  `\\d{1,2}(?:st|nd|rd|th|\\.)?[ -](?:of )?${MONTH},?[ -]\\d{4}`,
  `${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})`,
  '\\d{4}[ ]?年[ ]?\\d{1,2}[ ]?月[ ]?\\d{1,2}[ ]?日',
].join('|')
const DATE = `(?:${WEEKDAY}(?:, | |,)(?:the |der |den )?)?(?:${DAY})(?:[ ]?\\(?(?:${WEEKDAY}|(?:星期|周)[一二三四五六日天])\\)?)?`
const CLOCK = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?:[ \\u202f]?[ap](?:\\.m\\.|m\\b))?'
const ZONE =
  '(?:[ ]?(?:Z\\b|uhr\\b|(?:utc|gmt)?[+-]\\d{1,2}(?::?\\d{2})?|(?:utc|gmt|[ceapm][sedt]{1,2}t)\\b))?(?:[ ]?\\([\\w/+:, -]{1,60}\\))?'
const MOMENT = `(?:(?<day>${DATE})(?:(?:t|,? at |, | um | - | |t )(?<clock>${CLOCK})${ZONE})?|(?<clockOnly>${CLOCK})${ZONE}(?:[ ,]{1,3}${DATE})?)`

const WHEN =
  '(?:date ?(?:and|&|/) ?(?:local )?time|date-?_?time|timestamp|time ?(?:and|&) ?date|(?:local |utc )?time|(?:local )?date|day)'
const ANNOUNCED = [
  `(?:the |your )?(?:current|today['’]?s|present|system) (?:local |utc |system )?${WHEN}(?: (?:in|at) [\\w/ ,]{1,40}?)?`,
  `today(?:['’]s)? date`,
  `(?:the )?(?:date|time|date and time) (?:today|now|right now)`,
  'today',
  "now is|it(?: is|['’]s) (?:now|currently)",
  '(?:conversation|session|chat) (?:start|started at|start time|date)',
  'heute(?: ist)?|heutiges datum|(?:das )?(?:aktuelle|heutige) (?:datum|uhrzeit|zeit)(?: und (?:die )?(?:uhrzeit|zeit))?|(?:die )?(?:aktuelle|jetzige) (?:uhr)?zeit',
  "la date (?:actuelle|d['’]aujourd['’]hui)|date et heure actuelles|nous sommes(?: le)?",
  '(?:la )?fecha(?: y hora)? actual|hoy es(?: el)?',
  '(?:当前|现在的?|目前)(?:日期|时间)(?:和时间)?|今天(?:的日期)?|现在',
  '(?:現在の?)?(?:日時|日付|時刻)|今日',
].join('|')
const IS =
  '(?:\\*{1,2}|`)?(?: ?\\([^()\\n]{1,40}\\))?[ ]?(?: (?:is|are|ist|est|es)|是|为|は)?(?:[ ]?[:：=])?(?:\\*{1,2})?[ ]{0,2}\\r?'
const ARTICLE = '(?:(?:the|der|den|le|el|now|currently) )?'

const OWNER =
  '(?:request|session|conversation|thread|trace|span|correlation|chat|message|run|turn|generation|invocation|interaction)'
const ID = '(?=[\\w.:/-]{0,127}\\d)[\\w.:/-]{5,127}\\w'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

const TAG = `<(${OWNER}(?:[ _-]?(?:id|info))?)(?: [\\w:-]{1,40}="[^"\\n<>]{0,200}"){1,8} ?`

const BEFORE = '(?<![\\p{L}\\p{N}_"\'`“‘/.{-])'

/** The forms of volatile text, the surest first. */
export const volatilePatterns: readonly VolatilePattern[] = [
  {
    // clients insert such lines as headers, before the system prompt or as a separate text
    regExp:
      /^(?:x-anthropic-[a-z-]{1,60}|x-(?:request|session|trace|correlation|client-request)-id|traceparent):[^\n\r]+/gi,
    kindOf: () => 'attribution',
  },
  {
    regExp: new RegExp(`${TAG}(?:/>|>(?:(?:${ID})?</\\1>)?)|<(${OWNER}[_-]?id)>\\s?${ID}\\s?</\\2>`, 'giu'),
    kindOf: kindOfTag,
  },
  {
    regExp: new RegExp(`${BEFORE}(?:your |the |current )?${OWNER}[ _-]?id${IS}${ID}`, 'giu'),
    kindOf: () => 'id',
  },
  {
    regExp: new RegExp(
      `<((?:current|today)[_-]?(?:date|time|date[_-]?time|timestamp)|today)>\\s?${MOMENT}\\s?</\\1>`,
      'giu',
    ),
    kindOf: kindOfMoment,
  },
  {
    regExp: new RegExp(`${BEFORE}(?:\\*\\*)?(?:${ANNOUNCED})${IS}${ARTICLE}${MOMENT}`, 'giu'),
    kindOf: kindOfMoment,
  },
  {
    regExp:
      /(?<![\w"'`“/:.-])\d{4}-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[ ]?[+-]\d{2}:?\d{2}|[ ]UTC)?(?![\w"'`-])/g,
    // a full hour is that of an example or of an appointment
    kindOf: ([text]) => (/[T ]\d\d:00(?::00)?(?![.,:\d])/.test(text) ? undefined : 'timestamp'),
  },
  {
    regExp: new RegExp(`(?<![\\w"'\`“/:.=-])${UUID}(?![\\w"'\`/-])`, 'gi'),
    kindOf: () => 'uuid',
  },
]

function kindOfMoment({ groups }: RegExpExecArray): VolatileKind {
  return groups!.clock === undefined && groups!.clockOnly === undefined ? 'date' : 'time'
}

// a tag without an id is markup of the prompt
function kindOfTag([text]: RegExpExecArray): VolatileKind | undefined {
  return /\d/.test(text) && /\bid\b|[_-]id/i.test(text) ? 'id' : undefined
}
