import type { Span } from '#proxy/common/json/json-spans.ts'
import type { PromptMessage, PromptText } from '#proxy/prompt/body/prompt.ts'
import type { PromptContext } from '#proxy/prompt/body/prompt-context.ts'
import { type Finding, ok, warning } from './finding.ts'

const check = 'volatile_text'
/** At most this many are listed: the first one already ends the shared prefix. */
const mostListed = 5

/**
 * Lists text before the first blocks that differs from request to request: in system messages, and in the message with
 * these blocks. Text in other turns was sent before and does not change.
 */
export function judgeVolatileText(
  messages: readonly PromptMessage[],
  texts: readonly PromptText[],
  contexts: readonly (readonly PromptContext[])[],
): Finding[] {
  const found: Finding[] = []
  for (const [place, message] of messages.entries()) {
    const slots = contexts[place]!.flatMap(({ slots }) => slots)
    const isSystem = message.role === 'system' || message.role === 'developer'
    if (isSystem || slots.length > 0) found.push(...findInMessage(message, texts, slots))
    if (place === messages.length - 1) found.push(...findQuestionBefore(texts, slots))
    if (slots.length > 0 && isBehindQuestion(messages.slice(0, place), message)) {
      const { path } = texts[message.texts[0]!]!
      found.push(warning(check, `${path.join('.')} ${behindQuestion.found}`, behindQuestion.fix))
    }
    if (slots.length > 0) break
  }
  if (found.length === 0) return [ok(check, 'none found in front of the blocks')]
  const more = found.length - mostListed
  if (more <= 0) return found
  return [...found.slice(0, mostListed), warning(check, `${more} more`)]
}

const behindQuestion = {
  found: 'is the result of a tool, behind a question: this conversation reuses it, others only where they ask the same',
  fix: 'nothing to mend in an agent; what it gains all the same: docs/apps.md, Who gains nothing',
}

/** Whether a message is the result of a tool that was called for what a user asked. */
function isBehindQuestion(before: readonly PromptMessage[], { role }: PromptMessage): boolean {
  return (role === 'tool' || role === 'function') && before.some((message) => message.role === 'user')
}

function findInMessage(message: PromptMessage, texts: readonly PromptText[], slots: PromptContext['slots']): Finding[] {
  const found: Finding[] = []
  for (const at of message.texts) {
    const { text, path, isRaw } = texts[at]!
    const first = slots.find((slot) => slot.text === at)
    if (!isRaw) {
      const volatile = findVolatileText(text, first?.start)
      found.push(...volatile.map((one) => toFinding(one, text, path.join('.'))))
    }
    if (first) break
  }
  return found
}

/** The first line that asks. */
function questionIn(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.find((line) => /^(?:(?:user )?(?:question|query)\s*[:：].*\S|.*[?？])$/i.test(line))
}

/** Finds a question in front of the documents, unless one is behind them. */
function findQuestionBefore(texts: readonly PromptText[], slots: PromptContext['slots']): Finding[] {
  const [first, last] = [slots[0], slots.at(-1)]
  if (!first || !last) return []
  const asked = questionIn(texts[first.text]!.text.slice(0, first.start))
  if (asked === undefined || questionIn(texts[last.text]!.text.slice(last.end)) !== undefined) return []
  const found = `${texts[first.text]!.path.join('.')} asks '${asked.slice(0, 80)}' in front of the documents. Nothing after it is reused`
  return [warning(check, found, 'put the question behind the documents')]
}

function toFinding({ start, end, kind }: VolatileText, text: string, path: string): Finding {
  const { what, fix } = kinds[kind]
  const excerpt = text.slice(start, Math.min(end, start + 80)).replace(/\s+/g, ' ')
  const cut = end - start > 80 ? '…' : ''
  return warning(check, `${path} contains ${what}: '${excerpt}${cut}'. Nothing after it is reused`, fix)
}

const ifItDiffers = 'if it differs from request to request, put it after the blocks, next to the question'
/** What each kind is and how often it changes, and what to do about it. */
const kinds: Readonly<Record<VolatileText['kind'], { readonly what: string; readonly fix: string }>> = {
  attribution: {
    what: 'a header that a client inserts for itself: it changes with every request',
    fix: 'switch the header off in the client (Claude Code: CLAUDE_CODE_ATTRIBUTION_HEADER=0)',
  },
  id: {
    what: 'the id of a request or conversation: it changes with every one',
    fix: "send it as a header or in 'metadata' instead, or after the blocks",
  },
  time: {
    what: 'the time of day: it changes every minute or second',
    fix: 'put it after the blocks, next to the question, or send only the date',
  },
  date: { what: 'the date: it changes every day', fix: 'put it after the blocks, next to the question' },
  timestamp: {
    what: 'a timestamp: it changes with every request if it is the time of the request',
    fix: ifItDiffers,
  },
  uuid: { what: 'a UUID: it changes with every request if it names the request', fix: ifItDiffers },
}

/** Text that differs between otherwise equal requests: nothing after it is found in an engine's cache. */
interface VolatileText extends Span {
  readonly kind: VolatileKind
}

/** A text with more matches than this is data, not headers. */
const mostFound = 100

const FENCE = /^[ \t]*(?:```|~~~)/

const EXAMPLE =
  /\be\.g\.|\bz\.\s?B\.|\b(?:for (?:example|instance)|examples?|formats?|formatted|such as|like|beispiel)\b/i

/**
 * Finds the volatile text before `end`, in order and not overlapping, in linear time. Omits what is quoted, in code or
 * given as an example.
 */
export function findVolatileText(text: string, end: number = text.length): VolatileText[] {
  const found: VolatileText[] = []
  let isCode = false
  for (const { 0: line, index } of text.slice(0, end).matchAll(/[^\n]+/g)) {
    if (FENCE.test(line)) isCode = !isCode
    else if (!isCode) found.push(...findInLine(line, index))
    if (found.length >= mostFound) break
  }
  return found.slice(0, mostFound)
}

function findInLine(content: string, lineStart: number): VolatileText[] {
  const found: VolatileText[] = []
  // most lines have no digit and need no search
  if (!/\d/.test(content)) return found
  for (const { regExp, kindOf } of volatilePatterns) {
    for (const match of content.matchAll(regExp)) {
      const kind = kindOf(match)
      // what follows such words is an example, not this request's own value
      const before = content.slice(Math.max(0, match.index - 200), match.index)
      if (kind === undefined || EXAMPLE.test(before)) continue
      const start = lineStart + match.index
      const end = start + match[0].length
      // what a surer pattern has found stays
      if (found.some((one) => one.start < end && start < one.end)) continue
      found.push({ start, end, kind })
      if (found.length >= mostFound) break
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

/** The kinds of text that differ between otherwise equal requests. */
type VolatileKind = 'attribution' | 'id' | 'time' | 'date' | 'timestamp' | 'uuid'

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
const volatilePatterns: readonly VolatilePattern[] = [
  {
    // clients insert such lines as headers, before the system prompt or as a separate text
    regExp:
      /^(?:x-anthropic-[a-z-]{1,60}|x-(?:request|session|trace|correlation|client-request)-id|traceparent):[^\n\r]+/gi,
    kindOf: () => 'attribution',
  },
  {
    regExp: new RegExp(`${TAG}(?:/>|>(?:(?:${ID})?</\\1>)?)|<(${OWNER}[_-]?id)>\\s?${ID}\\s?</\\2>`, 'giu'),
    // a tag without an id is markup of the prompt
    kindOf: ([text]) => (/\d/.test(text) && /\bid\b|[_-]id/i.test(text) ? 'id' : undefined),
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
