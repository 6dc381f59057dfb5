import { toAsciiDigits } from '../scan/words/digits.ts'
import { WordPattern } from '../scan/words/word-pattern.ts'
import { ENUMERATED, NUMERAL, PLACE, readCountedWords, readNumberedWords } from './words/counted-words.ts'
import { callsByPlace, findNumbered } from './words/place-words.ts'
import { readEnds } from './words/word-patterns.ts'

/** What words outside lists say about blocks by number or position. */
export interface Remarks {
  /** numbers in brackets, such as `[2]` */
  readonly bracketed: ReadonlySet<string>
  /** numbers with a noun, such as `document 2` and `[Doc_2]` */
  readonly worded: ReadonlySet<string>
  /** such as `the second document` */
  readonly isCounted: boolean
  /** words that are counted, in the singular: `clipping` for `the second clipping` */
  readonly countedWords: ReadonlySet<string>
  /** words with a number: `clipping 2` */
  readonly numberedWords: ReadonlySet<string>
  /** such as `the second paragraph`, which may be a block if none has a label */
  readonly isPartCounted: boolean
}

const setsOfRemarks = ['bracketed', 'worded', 'countedWords', 'numberedWords'] as const

/** Remarks of several texts together. */
type AddedRemarks = { -readonly [name in keyof Remarks]: Remarks[name] extends boolean ? boolean : Set<string> }

// most texts say nothing of blocks, and thousands are remembered: the sets that stay empty are this one
const none = new Set<string>()

export function noRemarks(): AddedRemarks {
  const [isCounted, isPartCounted] = [false, false]
  return { bracketed: none, worded: none, isCounted, countedWords: none, numberedWords: none, isPartCounted }
}

export function addRemarks(all: AddedRemarks, own: Remarks): AddedRemarks {
  for (const name of setsOfRemarks) {
    if (all[name] === none && own[name].size > 0) all[name] = new Set()
    for (const said of own[name]) all[name].add(said)
  }
  all.isCounted ||= own.isCounted
  all.isPartCounted ||= own.isPartCounted
  return all
}

const KIN =
  'documents?|docs?|sources?|passages?|contexts?|chunks?|references?|files?|results?|snippets?|excerpts?|articles?|e-?mails?|papers?|pdfs?|tickets?|hits?|bullets?(?: points?)?'
const NUMBERED = `${KIN}|texts?|items?|entry|entries|memory|memories|dokumente?|quellen?|abschnitte?|texte?|datei(?:en)?`
const BRACKETED = new WordPattern(/\[ ?(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,16}) ?\]/g)
// `between 1 and 5 words` is the length of an answer
const MEASURED =
  '(?:\\p{L}+ )?(?:words?|sentences?|paragraphs?|lines?|bullets?|points?|tokens?|characters?|letters|pages?|keywords?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?!\\p{L})'
// `our #1 product` is a rank in the world, `the #1 source` and `the #1 says` are blocks
const BEST = `(?<=(?:(?<!\\p{L})(?:the|our|your|my|their|his|her|its)|['’]s) )#1 (?!(?:${NUMBERED}|blocks?|parts?|sections?|paragraphs?|links?|ones?|say\\p{L}*|contradict\\p{L}*|agree\\p{L}*|differ\\p{L}*|claims|mentions|states|supports|said|is|was|has|does|and|or|so|in|on|with|about|above|below)(?!\\p{L}))\\p{L}`
const WORDED = new WordPattern(
  [
    `(?<!\\p{L})(?:(?:${NUMBERED})(?!${ENUMERATED})[ \\t]?(?:[_#.:(\\[-]|no\\.?|nr\\.?|numbers?)?|numbers?|no\\.|nr\\.|nummer|numéro|número)[ \\t]?(\\d{1,4})(?![\\d%]|[.,]\\d)`,
    `(?<![\\w#&/])(?!${BEST})#(\\d{1,2})(?!\\w)`,
    `(?<!\\p{L})(?:compare|contrast|between|does|is|explain) \\(?(\\d{1,2})\\)? (?!(?:and|or) \\d{1,4} (?:${MEASURED}))(?:and|or|with|vs\\.?|contradict|agree|differ|support|say|right|true|wrong|more|less|better|worse|older|newer)(?!\\p{L})`,
    '(?<!\\p{L})(?:use|using|only|ignore|skip) (?:only |just )?(\\d{1,2}) (?:and|or) \\d{1,2}(?![\\d%]|[.,]\\d| \\p{L})',
    '(?:文[档檔件献獻書]|[资資]料|[来來]源|段落|ドキュメント|出典|문서|자료|출처|مستند|وثيقة|مصدر|ملف) ?(?:رقم ?)?[[(【]?(\\d{1,4})(?!\\d)',
  ],
  'giu',
)
const TEXT = `(?:${KIN}|texts?)`
const COUNTED = new WordPattern(
  [
    // `limited to first 20 files` is an amount
    `(?<!\\p{L})(?!(?<!\\bthe )(?:first|last) \\d{1,4} )${PLACE}(?: (?:and|or|to|the|of|two|three|four|five|few|\\d{1,2}|${PLACE})){0,4}[ -](?:${KIN})(?!\\p{L})`,
    `(?<!\\p{L})(?:${KIN}) (?:is|are|was|were|comes?|came|stands?|appears?) (?:the )?${PLACE}(?!\\p{L})`,
    `(?<!\\p{L})the (?:first|second|third|last)(?: one| two| three)?(?=[.,;!?]|\\s{0,4}$)`,
    `(?<!\\p{L})(?:(?:which|any|both|one|either) of the (?:first|last) (?:two|three|few)|(?:do|does|did|are|is) the (?:first|last) (?:two|three|few) (?:say|agree|differ|disagree|contradict|mention|true|right)|(?:ignore|skip|drop|remove|delete|summari[sz]e|compare|use) the (?:first|second|third|last)(?: two| three)? (?:and|or)|the (?:first|second|third|last)(?: one)? (?:says|claims|contradicts|is wrong|is right))(?!\\p{L})`,
    `(?<!\\p{L})the (?:${PLACE}|middle) one(?!\\p{L})|(?<!\\p{L})the one (?:before|after) the (?:last|first|${PLACE})(?!\\p{L})`,
    `(?<!\\p{L})(?:the|that) (?:previous|preceding) (?:document|source|passage|chunk|excerpt|snippet|article|result)(?!\\p{L})|(?<!\\p{L})(?:top|bottom) (?:one|two|few|half)(?: of the)? (?:${KIN})(?!\\p{L})`,
    `(?<!\\p{L})(?:listed|ranked|placed|ranks?) (?:first|last|highest|lowest|top|bottom|second|third)(?!\\p{L})|(?<!\\p{L})(?:at|in|on) (?:which|what) (?:position|rank|place)(?!\\p{L})|(?<!\\p{L})the top (?:hit|match)(?!\\p{L})|(?<!\\p{L})at (?:position|place|rank) \\d|(?<!\\p{L})(?:start|begin)(?:ning)? (?:with|from|at) the (?:first|last)(?!\\p{L})`,
    `(?<!\\p{L})the (?:former|latter|top (?:${KIN})|one (?:at|on|in) the (?:top|bottom|middle|beginning|end)|${TEXT} in the (?:very )?middle)(?!\\p{L})`,
    `(?<!\\p{L})(?:${KIN})(?: number| no\\.)? ${NUMERAL}(?!\\p{L})|(?<!\\p{L})numbers? ${NUMERAL}(?!\\p{L})`,
    `(?<!\\p{L})(?:the \\d{1,2}(?:st|nd|rd|th)(?= (?:one|says?|is|and|or)(?!\\p{L})|[.,;!?]|\\s{0,4}$)|the (?:penultimate|(?:next|second|third)[- ]to[- ]last)(?!\\p{L})|${TEXT} (?:before|after) (?:the )?last(?!\\p{L})|(?:does|do|did|say) (?:the )?(?:2nd|3rd|[4-9]th)(?!\\p{L}))`,
    `(?<!\\p{L})(?:(?:odd|even)(?:-numbered)? ${TEXT}|every (?:other|second|third) ${TEXT}|(?:the )?(?:opening|closing|initial) ${TEXT}|(?:upper|lower) half|(?:first|second|last) half of (?:(?:the|these|those|all|your) ){0,2}${TEXT}|(?:document|source|passage|chunk) (?:i{2,3}|iv|vi{1,3}|ix))(?!\\p{L})`,
    '(?<!\\p{L})(?:does|do|did|in|of|from|see|with|and) D\\d{1,2}(?!\\w)',
  ],
  'iu',
)
// words for unlabelled blocks
const PART_COUNTED = new WordPattern(
  [
    `(?<!\\p{L})(?:the |each |every )?${PLACE} (?:paragraphs?|sections?|parts?|texts?|items?|entry|entries|points?|notes?|excerpt)(?!\\p{L})|(?<!\\p{L})(?:paragraph|section|part|text|item|entry) (?:\\d{1,2}|${NUMERAL})(?!\\p{L})|(?<!\\p{L})(?:erste|zweite|dritte|vierte|letzte)[nrsm]? (?:absatz|absätze|teil|eintrag)`,
  ],
  'iu',
)
// citation instructions, in which numbers are only examples
const CITING =
  /\bcit(?:e|es|ed|ing|ations?)\b|\bquot(?:e|es|ed|ing|ations?)\b|e\.g\.|\bexamples?\b|\bfor instance\b|\bsuch as\b|\blike (?:this|so|\[|["'“‘])|\bbrackets?\b|\bformat(?:ted)?\b|\bnotation\b|\bmarkers?\b|\bzitier|\bklammern?\b|\bz\. ?b\.|\bbeispiel|\bformato?s?\b|\breferenci|\bcita[sr]?\b|\bcitaci|\bcitaz|引用|例如|格式|标注|のように|のような|形式|예를 들어|형식/i
const EXAMPLE = /\bfor example\b|\be\.g\.|\bfor instance\b|\bexamples?\b[^\n]{0,40}:|\bzum beispiel\b|\bz\. ?b\.|例如/i
// `quote document 2` asks for it, `cite it as [2]` does not
const ASKED_FOR = /(?:^|[.!?\n]\s{0,4}|\bplease )(?:quote|cite)(?: from| what| the){0,2} $/i
const QUOTED = /^[^"“”`\n]{0,300}["”`]/
const OPEN_QUOTE = /["“`][^"“”`\n]{0,300}$/

const LONGEST_SENTENCE = 400
const LONGEST_PARAGRAPH = 1_500

/** Reads what a text says about blocks by number or position, ignoring instructions on how to cite. */
export function readRemarks(words: string): Remarks {
  const text = toAsciiDigits(words)
  const ends = readEnds(text)
  return addRemarks(noRemarks(), {
    bracketed: namesIn(text, BRACKETED, isExample),
    worded: new Set([...namesIn(text, WORDED, isExample), ...numbersIn(text)]),
    isCounted: COUNTED.test(text) || callsByPlace(ends.toLowerCase()),
    countedWords: readCountedWords(ends),
    numberedWords: readNumberedWords(ends, (start, end) => isExample(ends, start, end)),
    isPartCounted: PART_COUNTED.test(text),
  })
}

/** Reads the numbers in an assistant's text, which cites what it was given. */
export function readCitations(text: string): Remarks {
  const isNone = (): boolean => false
  return {
    bracketed: namesIn(text, BRACKETED, isNone),
    worded: namesIn(text, WORDED, isNone),
    isCounted: false,
    countedWords: new Set(),
    numberedWords: readNumberedWords(readEnds(text), isNone),
    isPartCounted: false,
  }
}

/** Returns the numbers of texts in languages other than English. */
function numbersIn(text: string): string[] {
  const words = readEnds(text).toLowerCase()
  const found = [...findNumbered(words)].filter(({ start, end }) => !isExample(words, start, end))
  return found.map(({ number }) => number)
}

function namesIn(
  text: string,
  pattern: WordPattern,
  isNothing: (text: string, start: number, end: number) => boolean,
): Set<string> {
  const names = new Set<string>()
  for (const match of pattern.matches(text)) {
    if (isNothing(text, match.index, match.index + match[0].length)) continue
    for (const number of (match.slice(1).find((number) => number !== undefined) ?? '').split(/\D+/)) names.add(number)
  }
  return names
}

/** Returns whether a block is named in a citation instruction, an example or quotes. A question is never an example. */
function isExample(text: string, start: number, end: number): boolean {
  const front = text.slice(Math.max(start - LONGEST_PARAGRAPH, 0), start)
  if (ASKED_FOR.test(front)) return false
  const paragraph = front.slice(lastEnd(front, /\n[ \t\r]*\n/g))
  const behind = text.slice(end, end + LONGEST_SENTENCE)
  const rest = behind.slice(0, /[.!?。？！](?=\s|$)|\n|$/.exec(behind)?.index)
  if ('?？'.includes(behind[rest.length] ?? ' ')) return false
  if (OPEN_QUOTE.test(paragraph.slice(-LONGEST_SENTENCE)) && QUOTED.test(behind)) return true
  if (EXAMPLE.test(paragraph)) return true
  const near = paragraph.slice(-LONGEST_SENTENCE)
  return CITING.test(near.slice(lastEnd(near, /(?<!\be\.g|\bz\. ?b)[.!?。？！]\s|\n/gi)) + rest)
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length
  return end
}
