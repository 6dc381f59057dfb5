import { toAsciiDigits } from '../scan/words/digits.ts'
import { WordPattern } from '../scan/words/word-pattern.ts'
import { readEnds, STEMS, TEXTS } from './words/text-words.ts'

/**
 * What words outside lists say about blocks by number or place, as a word and a number or `nth`: `memory 2`, and
 * `clipping nth` for `the second clipping`, in the singular. The word is `[` for a number in brackets, `*` for any word
 * for a document or none, and `~` for one that also means a part of a text.
 */
export type Remarks = ReadonlySet<string>

// most texts say nothing of blocks, and thousands are remembered
const nothing: Remarks = new Set()

const KIN = `${TEXTS}|references?|pdfs?|bullets?`
const PART = /^(?:sections?|parts?|points?)$/i
const OF_KIN = new RegExp(`^(?:(?:${KIN}|numbers?|n[or]|nummer|numéro|número)$|(?:ال|ה)?(?:${STEMS}))`, 'i')

const PLACE =
  '(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last|final|penultimate|next[- ]to[- ]last|(?:second|2nd|third|3rd)[- ](?:to[- ])?last|bottom|topmost|\\d{1,2}(?:st|nd|rd|th))'
const FROM_TWO = 'two|three|four|five|six|seven|eight|nine|ten'
const NUMERAL = `(?:one|${FROM_TWO})`
const WORD = '(\\p{L}{3,30})'
// `first read the documents` counts nothing
const NEXT = '(?:[ -](?!(?:the|these|those|all|your|our|any|each|every|some)(?!\\p{L}))(\\p{L}{3,30}))?'
// each is tried by itself: `what is the last` must not hide `the last memory`
const COUNTED = [
  // `limited to first 20 files` is an amount
  `(?!(?<!\\bthe )(?:first|last) \\d{1,4} )${PLACE}(?: (?:and|or|to|the|of|two|three|four|five|few|\\d{1,2}|${PLACE})){0,4}[ -]${WORD}${NEXT}${NEXT}`,
  `(?:the|that) (?:previous|preceding|middle|top|bottom|opening|initial) ${WORD}`,
  `${WORD}(?: number| no\\.)? ${NUMERAL}(?!\\p{L})`,
  `${WORD} (?:is|are|was|were|comes?|came|stands?|appears?) (?:the )?${PLACE}(?!\\p{L})`,
].map((pattern) => new WordPattern([`(?<!\\p{L})${pattern}`], 'giu'))
// a number that counts nothing, as in `Ignore 3.` and `Does 1 or 2 say so?`; `one` is mostly a pronoun
const COUNT = `(?:\\d{1,2}|${FROM_TWO})`
const BEHIND_COUNT = `(?=[.?!;)](?!\\d)|\\s{0,4}$| (?:says?|said|differ|agree|mean|alone)(?!\\p{L}))`
const RELATIVE = '(?:next|previous|following|preceding|upper|lower|topmost|bottom|other)'
// without a word of their own, or with another than an ordinal
const ALONE = new WordPattern(
  [
    `(?<!\\p{L})(?:about|ignore|open|skip|show|use|using|does|do|did|only)(?: numbers?)? (?:${COUNT}(?:-|–| and | or |, ))?${COUNT}${BEHIND_COUNT}`,
    `^\\s*(?:and |then |number )?(?:\\d{1,2}[.?!]?|${COUNT}(?:\\?|,? please[.?!]?))\\s*$`,
    `(?<!\\p{L})(?:the ${RELATIVE} (?:ones?|two|three|few)|every other (?:one|of)|the one (?:before|after|above|below)|(?:just|right|directly) (?:before|after|above|below) (?:the|that|this)|(?:follows|precedes) the one|the topmost|at the very (?:end|beginning))(?!\\p{L})`,
    `(?<!\\p{L})the (?:first|second|third|last)(?: one| two| three)?(?=[.,;!?]|\\s{0,4}$)`,
    `(?<!\\p{L})(?:(?:which|any|both|one|either) of the (?:first|last) (?:two|three|few)|(?:do|does|did|are|is) the (?:first|last) (?:two|three|few) (?:say|agree|differ|disagree|contradict|mention|true|right)|(?:ignore|skip|drop|remove|delete|summari[sz]e|compare|use) the (?:first|second|third|last)(?: two| three)? (?:and|or)|the (?:first|second|third|last)(?: one)? (?:says|claims|contradicts|is wrong|is right))(?!\\p{L})`,
    `(?<!\\p{L})numbers? ${NUMERAL}(?!\\p{L})|(?<!\\p{L})the (?:${PLACE}|middle) one(?!\\p{L})|(?<!\\p{L})the one (?:before|after) the (?:last|first|${PLACE})(?!\\p{L})|(?<!\\p{L})(?:top|bottom) (?:one|two|few|half)(?: of the)? (?:${KIN})(?!\\p{L})`,
    `(?<!\\p{L})(?:listed|ranked|placed|ranks?) (?:first|last|highest|lowest|top|bottom|second|third)(?!\\p{L})|(?<!\\p{L})(?:at|in|on) (?:which|what) (?:position|rank|place)(?!\\p{L})|(?<!\\p{L})the top (?:hit|match)(?!\\p{L})|(?<!\\p{L})at (?:position|place|rank) \\d|(?<!\\p{L})(?:start|begin)(?:ning)? (?:with|from|at) the (?:first|last)(?!\\p{L})`,
    `(?<!\\p{L})the (?:former|latter|one (?:at|on|in) the (?:top|bottom|middle|beginning|end)|(?:${KIN}) in the (?:very )?middle)(?!\\p{L})`,
    `(?<!\\p{L})(?:the \\d{1,2}(?:st|nd|rd|th)(?= (?:one|says?|is|and|or)(?!\\p{L})|[.,;!?]|\\s{0,4}$)|the (?:penultimate|(?:next|second|third)[- ]to[- ]last)(?!\\p{L})|(?:${KIN}) (?:before|after) (?:the )?last(?!\\p{L})|(?:does|do|did|say) (?:the )?(?:2nd|3rd|[4-9]th)(?!\\p{L}))`,
    `(?<!\\p{L})(?:(?:odd|even)(?:-numbered)? (?:${KIN})|every (?:other|second|third) (?:${KIN})|(?:the )?(?:opening|closing|initial) (?:${KIN})|(?:upper|lower) half|(?:first|second|last) half of (?:(?:the|these|those|all|your) ){0,2}(?:${KIN})|(?:document|source|passage|chunk) (?:i{2,3}|iv|vi{1,3}|ix))(?!\\p{L})`,
    '(?<!\\p{L})(?:does|do|did|in|of|from|see|with|and) D\\d{1,2}(?!\\w)',
  ],
  'iu',
)

const BRACKETED = new WordPattern(/\[ ?(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,16}) ?\]/g)
// `between 1 and 5 words` is the length of an answer
const MEASURED =
  '(?:\\p{L}+ )?(?:words?|sentences?|paragraphs?|lines?|bullets?|points?|tokens?|characters?|letters|pages?|keywords?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?!\\p{L})'
// `our #1 product` is a rank in the world, `the #1 source` and `the #1 says` are blocks
const BEST = `(?<=(?:(?<!\\p{L})(?:the|our|your|my|their|his|her|its)|['’]s) )#1 (?!(?:${KIN}|blocks?|parts?|sections?|ones?|say\\p{L}*|contradict\\p{L}*|agree\\p{L}*|differ\\p{L}*|claims|mentions|states|supports|said|is|was|has|does|and|or|so|in|on|with|about|above|below)(?!\\p{L}))\\p{L}`
const AMOUNT = '(?![\\d%]|[.,]\\d)'
const NUMBERED = new WordPattern(
  [
    `(?<![\\w#&/])(?!${BEST})#(\\d{1,2})(?!\\w)`,
    `(?<!\\p{L})(?:compare|contrast|between|does|is|explain) \\(?(\\d{1,2})\\)? (?!(?:and|or) \\d{1,4} (?:${MEASURED}))(?:and|or|with|vs\\.?|contradict|agree|differ|support|say|right|true|wrong|more|less|better|worse|older|newer)(?!\\p{L})`,
    `(?<!\\p{L})(?:use|using|only|ignore|skip) (?:only |just )?(\\d{1,2}) (?:and|or) \\d{1,2}${AMOUNT}(?! \\p{L})`,
    // but not the end of a sentence and the number of the next rule, as in `Use the documents. 2. Be brief.`
    `(?<!\\p{L})(?<word>[\\p{L}\\p{M}]{3,30}|n[or](?=\\.))(?![.:] \\d{1,2}[.)] )#? ?(?<mark>[_.:([*№-]{1,2}|n\\.?[oº°]?\\.?:?|nr\\.?|numbers?:?|numbered|labell?ed|номер|numara|numéro|n[úu]mero|nummer|numer|số|nomor|رقم|شماره|संख्या|αριθμός|หมายเลข)? ?(\\d{1,4})${AMOUNT}`,
    '(?:文[档檔件献獻書]|[资資]料|[来來]源|段落|ドキュメント|出典|문서|자료|출처|مستند|وثيقة|مصدر|ملف) ?(?:رقم ?)?[[(【]?(\\d{1,4})(?!\\d)',
  ],
  'giu',
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

/** Reads what a text says about blocks by number or place, ignoring instructions on how to cite. */
export function readRemarks(words: string): Remarks {
  const text = readEnds(toAsciiDigits(words))
  const remarks = [...readNumbers(text, isExample), ...COUNTED.flatMap((pattern) => [...readCounted(text, pattern)])]
  if (ALONE.test(text)) remarks.push('* nth')
  return remarks.length === 0 ? nothing : new Set(remarks)
}

/** Reads the numbers in an assistant's text, which cites what it was given. */
export function readCitations(text: string): Remarks {
  return new Set(readNumbers(readEnds(text), () => false))
}

function* readCounted(text: string, pattern: WordPattern): Generator<string> {
  for (const [, first = '', ...further] of pattern.matches(text)) {
    if (OF_KIN.test(first)) yield '* nth'
    if (PART.test(first)) yield '~ nth'
    for (const word of [first, ...further]) if (word !== undefined) yield `${toSingular(word)} nth`
  }
}

/** Reads the numbers in a text that may be a block's. */
function* readNumbers(
  text: string,
  isNothing: (text: string, start: number, end: number) => boolean,
): Generator<string> {
  for (const { 0: whole, 1: numbers, index } of BRACKETED.matches(text)) {
    if (isNothing(text, index, index + whole.length)) continue
    yield* numbers!.split(/\D+/).map((number) => `[ ${number}`)
  }
  for (const { 0: whole, groups, index } of NUMBERED.matches(text)) {
    if (!isNothing(text, index, index + whole.length)) yield* namesOf(/\d+/.exec(whole)![0], groups?.word, groups?.mark)
  }
}

function namesOf(number: string, word: string | undefined, mark: string | undefined): string[] {
  if (word === undefined) return [`* ${number}`]
  const isKin = OF_KIN.test(word) || (mark !== undefined && /\p{L}/u.test(mark))
  return [...(isKin ? [`* ${number}`] : []), ...(PART.test(word) ? ['~ nth'] : []), `${toSingular(word)} ${number}`]
}

/** Returns a word in the singular, in lower case. */
export function toSingular(word: string): string {
  const lower = word.toLowerCase()
  return lower.endsWith('ies') ? `${lower.slice(0, -3)}y` : lower.replace(/(?<=[^s])s$/, '')
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
