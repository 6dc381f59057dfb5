/** What words outside of lists say about blocks by their place. */
export interface Remarks {
  /** in brackets, as `[2]` */
  readonly bracketed: ReadonlySet<string>
  /** with what it is that they number, as `document 2` and `[Doc_2]` */
  readonly worded: ReadonlySet<string>
  /** as `the second document` */
  readonly isCounted: boolean
  /** as `the second paragraph`, which may be a block where none has a label */
  readonly isPartCounted: boolean
  /** as `in this order` */
  readonly isOrdered: boolean
}

const KIN =
  'documents?|docs?|sources?|passages?|contexts?|chunks?|references?|files?|results?|snippets?|excerpts?|articles?'
const NUMBERED = `${KIN}|texts?|items?|entry|entries|memory|memories|dokumente?|quellen?|abschnitte?|texte?|datei(?:en)?`
const BRACKETED = /\[ ?(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,16}) ?\]/g
// `between 1 and 5 words` is how long an answer is to be
const MEASURED =
  '(?:\\p{L}+ )?(?:words?|sentences?|paragraphs?|lines?|bullets?|points?|tokens?|characters?|letters|pages?|keywords?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?!\\p{L})'
const WORDED = new RegExp(
  [
    `(?<!\\p{L})(?:(?:${NUMBERED})[ \\t]?(?:[_#.:(\\[-]|no\\.?|nr\\.?|numbers?)?|numbers?|no\\.|nr\\.|nummer|numéro|número)[ \\t]?(\\d{1,4})(?![\\d%]|[.,]\\d)`,
    '(?<![\\w#&/])#(\\d{1,2})(?!\\w)',
    `(?<!\\p{L})(?:compare|contrast|between|does|is|explain) \\(?(\\d{1,2})\\)? (?!(?:and|or) \\d{1,4} (?:${MEASURED}))(?:and|or|with|vs\\.?|contradict|agree|differ|support|say|right|true|wrong)(?!\\p{L})`,
    '(?:文档|文件|资料|来源|段落|文献) ?[[(【]?(\\d{1,4})(?!\\d)',
  ].join('|'),
  'giu',
)
const PLACE = '(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|final|\\d{1,2}(?:st|nd|rd|th))'
const NUMERAL = '(?:one|two|three|four|five|six|seven|eight|nine|ten)'
const COUNTED = new RegExp(
  [
    // `limited to first 20 files` is an amount
    `(?<!\\p{L})(?!(?<!\\bthe )(?:first|last) \\d{1,4} )${PLACE}(?: (?:and|or|to|the|of|two|three|four|five|few|\\d{1,2}|${PLACE})){0,4}[ -](?:${KIN})(?!\\p{L})`,
    `(?<!\\p{L})(?:${KIN}) (?:is|are|was|were|comes?|came|stands?|appears?) (?:the )?${PLACE}(?!\\p{L})`,
    `(?<!\\p{L})the (?:first|second|third|last)(?: one| two| three)?(?=[.,;!?]|\\s{0,4}$)`,
    `(?<!\\p{L})the (?:${PLACE}|middle) one(?!\\p{L})`,
    `(?<!\\p{L})the (?:former|latter|top (?:${KIN})|one (?:at|on|in) the (?:top|bottom|middle|beginning|end))(?!\\p{L})`,
    `(?<!\\p{L})(?:${KIN}) ${NUMERAL}(?!\\p{L})`,
    '(?<!\\p{L})(?:erste|zweite|dritte|vierte|fünfte|letzte)[nrsm]? (?:dokument|quelle|abschnitt|text|datei|ergebnis)',
    '(?<!\\p{L})(?:premi(?:er|ère)|deuxième|seconde?|troisième|derni(?:er|ère)) (?:document|source|passage|texte|extrait|fichier|résultat)',
    '(?<!\\p{L})(?:primera?|segund[oa]|tercera?|últim[oa]) (?:documento|fuente|texto|pasaje|archivo|fragmento|resultado)',
    '第 ?[一二三四五六七八九十\\d]{1,3} ?(?:个|篇|份|条|段)|[一二三四五六七八九十\\d]{1,3} ?(?:番目|つ目|件目)',
  ].join('|'),
  'iu',
)
// what unlabelled blocks may be called
const PART_COUNTED = new RegExp(
  `(?<!\\p{L})(?:the |each |every )?${PLACE} (?:paragraphs?|sections?|parts?|texts?|items?|entry|entries|points?|notes?|excerpt)(?!\\p{L})|(?<!\\p{L})(?:paragraph|section|part|text|item|entry) (?:\\d{1,2}|${NUMERAL})(?!\\p{L})|(?<!\\p{L})(?:erste|zweite|dritte|vierte|letzte)[nrsm]? (?:absatz|absätze|teil|eintrag)`,
  'iu',
)
// the order of time, in words that say so of texts and of nothing else
const BY_TIME = new RegExp(
  [
    '(?<!\\p{L})chronological(?:ly)?(?!\\p{L})|(?<!\\p{L})in (?:time|date|temporal) order(?!\\p{L})',
    '(?<!\\p{L})(?:sorted|ordered|arranged|listed|given) (?:by|from) (?:date|time|age|oldest|newest|latest|most recent|earliest)(?!\\p{L})',
    '(?<!\\p{L})(?:oldest|newest|latest|earliest|most recent)(?: (?:to|through) (?:newest|oldest|latest|earliest|most recent)| (?:ones? |documents? |entries |messages? |results? )?(?:come |comes )?first)(?!\\p{L})',
    'chronologisch|zeitlich(?:er|en)? (?:geordnet|sortiert|reihenfolge|abfolge)|nach (?:datum|zeit) (?:geordnet|sortiert)|(?:älteste|neueste|jüngste)[nrs]? zuerst',
    'ordre chronologique|chronologiquement|(?:triés?|classés?|rangés?) par date|du plus (?:ancien|récent) au plus (?:récent|ancien)',
    'orden cronológico|cronológicamente|(?:ordenad[oa]s|clasificad[oa]s) por fecha|del? más (?:antiguo|reciente) al? más (?:reciente|antiguo)',
    '(?:按|依)照?(?:发布|发生)?(?:时间|日期|先后)(?:的)?(?:先后)?(?:顺序|次序|排序|排列|升序|降序)|时间顺序|先后顺序|(?:由|从)(?:旧|新|早|晚|远|近)(?:到|至)(?:新|旧|晚|早|近|远)',
    '時系列|時間順|日付順|年代順|(?:古|新し)い(?:もの)?(?:から)?順',
  ].join('|'),
  'iu',
)
const FOR_EACH = `(?:for|score|rate|translate|summari[sz]e|classify|label|judge|grade|rewrite) (?:each|every)(?: of the)? (?:${NUMBERED})`
const DATA = '(?:json|csv|xml|yaml|sql|table|spreadsheet)'
// what is to come out one for each, as a table, or is told apart by time
const ALIGNED = new RegExp(
  [
    `(?<!\\p{L})${FOR_EACH}(?!\\p{L})(?![^.\\n]{0,40}\\b(?:cit|you use))`,
    `(?<!\\p{L})(?:convert|transform|reformat|turn|export|parse)(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${DATA}(?!\\p{L})`,
    '(?<!\\p{L})in (?:alphabetical|reverse) order(?!\\p{L})',
    '(?<!\\p{L})(?:line by line|one by one|document by document)(?!\\p{L})',
    `(?<!\\p{L})one (?:\\p{L}+ ){1,2}(?:per|for each|for every) (?:${NUMBERED})(?!\\p{L})`,
    `(?<!\\p{L})(?:they|their|them|these|${NUMBERED})(?!\\p{L})[^.\\n?]{0,80}(?<!\\p{L})respectively(?!\\p{L})`,
    '(?<!\\p{L})(?:page by page|step by step through)(?!\\p{L})|(?<!\\p{L})who \\p{L}+ (?:first|last)(?!\\p{L})',
  ].join('|'),
  'iu',
)
const ORDERED =
  /(?<!\p{L})in (?:(?:this|that|the (?:given|same|above|listed|following|right|correct|original|stated)) order(?!\p{L})|the order (?:given|listed|shown|above|in which|they|of the)|order(?!\p{L}| to | of relevance| that | for ))|in (?:dieser|derselben|der (?:gegebenen|angegebenen|gleichen|richtigen)) reihenfolge|dans (?:cet ordre|le même ordre|l['’]ordre (?:donné|indiqué))|en (?:este|el mismo) orden|按顺序|(?:按照?|以)(?:上述|以上|下列|给定|原来?)的?顺序|(?:相同|同样)的?顺序|この順(?:番|序)|順番(?:に|通り)|同じ順/iu

// how a prompt tells its model to cite: the numbers in it are anyone's
const CITING =
  /\bcit(?:e|es|ed|ing|ations?)\b|\bquot(?:e|es|ed|ing|ations?)\b|e\.g\.|\bexamples?\b|\bfor instance\b|\bsuch as\b|\blike (?:this|so|\[|["'“‘])|\bbrackets?\b|\bformat(?:ted)?\b|\bnotation\b|\bmarkers?\b|\bzitier|\bklammern?\b|\bz\. ?b\.|\bbeispiel|引用|例如|格式|标注/i
const EXAMPLE = /\bfor example\b|\be\.g\.|\bfor instance\b|\bexamples?\b[^\n]{0,40}:|\bzum beispiel\b|\bz\. ?b\.|例如/i
const QUOTED = /^[^"“”`\n]{0,300}["”`]/
const OPEN_QUOTE = /["“`][^"“”`\n]{0,300}$/

const LONGEST_END = 10_000
const LONGEST_SENTENCE = 400
const LONGEST_PARAGRAPH = 1_500
// a text with more numbers than these is no question about documents, and each of them takes time
const MOST_NAMES = 1_000

/** Reads what a text says of blocks by their number or place; not what tells the model how to cite. */
export function readRemarks(text: string): Remarks {
  return {
    bracketed: namesIn(text, BRACKETED, isExample),
    worded: namesIn(text, WORDED, isExample),
    isCounted: COUNTED.test(text),
    isPartCounted: PART_COUNTED.test(text),
    isOrdered: ORDERED.test(text) || ALIGNED.test(readEnds(text)),
  }
}

/** Whether a text says that something stands in the order of time. */
export function saysByTime(text: string): boolean {
  return BY_TIME.test(readEnds(text))
}

/** What is asked stands in front of what it is about, or behind it. */
function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}

/** The numbers in what an assistant said: it cites what it was given. */
export function readCitations(text: string): Remarks {
  const isNone = (): boolean => false
  return {
    bracketed: namesIn(text, BRACKETED, isNone),
    worded: namesIn(text, WORDED, isNone),
    isCounted: false,
    isPartCounted: false,
    isOrdered: false,
  }
}

function namesIn(
  text: string,
  pattern: RegExp,
  isNothing: (text: string, start: number, end: number) => boolean,
): Set<string> {
  const names = new Set<string>()
  let count = 0
  for (const match of text.matchAll(pattern)) {
    if (++count > MOST_NAMES) break
    if (isNothing(text, match.index, match.index + match[0].length)) continue
    for (const number of (match.slice(1).find((number) => number !== undefined) ?? '').split(/\D+/)) names.add(number)
  }
  return names
}

/** Whether what names a block stands in an instruction how to cite, in an example or in quotes; a question never does. */
function isExample(text: string, start: number, end: number): boolean {
  const front = text.slice(Math.max(start - LONGEST_PARAGRAPH, 0), start)
  const paragraph = front.slice(lastEnd(front, /\n[ \t\r]*\n/g))
  const behind = text.slice(end, end + LONGEST_SENTENCE)
  if (OPEN_QUOTE.test(paragraph.slice(-LONGEST_SENTENCE)) && QUOTED.test(behind)) return true
  const rest = behind.slice(0, /[.!?。？！](?=\s|$)|\n|$/.exec(behind)?.index)
  if (/[?？]/.test(behind[rest.length] ?? '')) return false
  if (EXAMPLE.test(paragraph)) return true
  const near = paragraph.slice(-LONGEST_SENTENCE)
  return CITING.test(near.slice(lastEnd(near, /(?<!\be\.g|\bz\. ?b)[.!?。？！]\s|\n/gi)) + rest)
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length
  return end
}
