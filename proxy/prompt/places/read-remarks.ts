import { matchesOf } from '../scan/words/matches-of.ts'
import { classes } from './words/lexicon.ts'
import { isQuestion, readEnds } from './words/sentences.ts'
import { Reading, signsOfTerm, wordsOf } from './words/signs.ts'

/**
 * What words outside lists say about blocks by number or place, as a word and a number or `nth`: `memory 2`, and
 * `clipping nth` for `the second clipping`, in the singular. The word is `[` for a number in brackets, `*` for any word
 * for a document or none, and `~` for one that also means a part of a text.
 */
export type Remarks = ReadonlySet<string>

// only a number, as in `3?` and `And 2.`
const ALONE =
  /^\s*(?:and |then |number )?(?:\d{1,2}[.?!]?|(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)(?:\?|,? please[.?!]?))\s*$/i

const BRACKETED = /\[ ?(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,16}) ?\]/g
// `between 1 and 5 words` is the length of an answer
const MEASURED =
  '(?:\\p{L}+ )?(?:words?|sentences?|paragraphs?|lines?|bullets?|points?|tokens?|characters?|letters|pages?|keywords?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?!\\p{L})'
const KIN_AS_WRITTEN = wordsOf(classes.KIN!)
  .map((noun) => (noun.endsWith('+') ? `${noun.slice(0, -1)}s?` : noun).replaceAll('_', '[ -]'))
  .join('|')
// `our #1 product` is a rank in the world, `the #1 source` and `the #1 says` are blocks
const BEST = `(?<=(?:(?<!\\p{L})(?:the|our|your|my|their|his|her|its)|['’]s) )#1 (?!(?:${KIN_AS_WRITTEN}|e?mails?|items?|hits?|blocks?|parts?|sections?|ones?|say\\p{L}*|contradict\\p{L}*|agree\\p{L}*|differ\\p{L}*|claims|mentions|states|supports|said|is|was|has|does|and|or|so|in|on|with|about|above|below)(?!\\p{L}))\\p{L}`
const AMOUNT = '(?![\\d%]|[.,]\\d)'
const NUMBERED = new RegExp(
  [
    `(?<![\\w#&/])(?!${BEST})#(\\d{1,2})(?!\\w)`,
    `(?<!\\p{L})(?:compare|contrast|between|does|is|explain) \\(?(\\d{1,2})\\)? (?!(?:and|or) \\d{1,4} (?:${MEASURED}))(?:and|or|with|vs\\.?|contradict|agree|differ|support|say|right|true|wrong|more|less|better|worse|older|newer)(?!\\p{L})`,
    `(?<!\\p{L})(?:use|using|only|ignore|skip) (?:only |just )?(\\d{1,2}) (?:and|or) \\d{1,2}${AMOUNT}(?! \\p{L})`,
    // but not the end of a sentence and the number of the next rule, as in `Use the documents. 2. Be brief.`
    `(?<!\\p{L})(?<word>[\\p{L}\\p{M}]{3,30}|n[or](?=\\.))(?![.:] \\d{1,2}[.)] )#? ?(?<mark>[_.:([*№-]{1,2}|n\\.?[oº°]?\\.?:?|nr\\.?|numbers?:?|numbered|labell?ed|номер|numara|numéro|n[úu]mero|nummer|numer|số|nomor|رقم|شماره|संख्या|αριθμός|หมายเลข)? ?(\\d{1,4})${AMOUNT}`,
    '(?:文[档檔件献獻書]|[资資]料|[来來]源|段落|ドキュメント|出典|문서|자료|출처|مستند|وثيقة|مصدر|ملف) ?(?:رقم ?)?[[(【]?(\\d{1,4})(?!\\d)',
  ].join('|'),
  'giu',
)

// `quote document 2` asks for it, `cite it as [2]` does not
const ASKED_FOR = /(?:^\s*|\bplease )(?:quote|cite)(?: from| what| the){0,2} $/i
const OPEN_QUOTE = /["“`][^"“”`]*$/
const QUOTED = /^[^"“”`]*["”`]/
const LONGEST_QUOTE = 300

/** Reads what a sentence says about blocks by number or place, but for quotes and numbers that only show how to cite. */
export function readRemarks(sentence: string, reading: Reading, isShowing: boolean): string[] {
  const isAsking = isQuestion(sentence)
  const numbers = readNumbers(sentence, (start, end) => {
    const front = sentence.slice(Math.max(start - LONGEST_QUOTE, 0), start)
    if (isAsking || ASKED_FOR.test(front)) return false
    return isShowing || (OPEN_QUOTE.test(front) && QUOTED.test(sentence.slice(end, end + LONGEST_QUOTE)))
  })
  return [...numbers, ...readCounted(reading)]
}

/** Whether a text is nothing but a number. */
export function isNumberAlone(text: string): boolean {
  return ALONE.test(text)
}

/** Reads the numbers in an assistant's text, which cites what it was given. */
export function readCitations(text: string): Remarks {
  return new Set(readNumbers(readEnds(text)))
}

const ORDINAL = signsOfTerm('ORDINAL|NTH')
const LIMIT = signsOfTerm('first|last')
const LINK = signsOfTerm('and|or|to|the|of|two|three|four|five|few|NUMBER')
// `first read the documents` counts nothing
const OF_CLAUSE = signsOfTerm('the|these|those|all|your|our|any|each|every|some')
const BESIDE = signsOfTerm('previous|preceding|middle|top|bottom|opening|initial')
const ARTICLE = signsOfTerm('the|that')
const IS = signsOfTerm('is|are|was|were|come|comes|came|stand|stands|stood|appear|appears')
const NUMERAL = signsOfTerm('NUMERAL')
const NUMERO = signsOfTerm('number|no')
const WORD = /^\p{L}{3,30}$/u
const mostLinks = 4
const mostWords = 3

/** Reads which words a sentence says a place of, as `the second clipping` and `clipping two`. */
function readCounted(reading: Reading): string[] {
  return reading.tokens.flatMap((token, at) => {
    const behind = reading.endsOf(at, ORDINAL)
    const words = behind.flatMap((end) => (isAmount(reading, at) ? [] : wordsBehind(reading, end)))
    if (reading.isAt(at, ARTICLE) && reading.isAt(at + 1, BESIDE)) words.push(...reading.tokens.slice(at + 2, at + 3))
    if (WORD.test(token) && isNumbered(reading, at + 1)) words.push(token)
    return words.flatMap((word, i) => namesOf('nth', word, i === 0))
  })
}

/** Whether `first 20 files` are an amount, unlike `the first 20 files`. */
function isAmount(reading: Reading, at: number): boolean {
  return reading.isAt(at, LIMIT) && /^\d{1,4}$/.test(reading.tokens[at + 1] ?? '') && reading.tokens[at - 1] !== 'the'
}

function wordsBehind(reading: Reading, from: number, most = mostWords): string[] {
  let at = from
  for (let links = 0; links < mostLinks && (reading.isAt(at, LINK) || reading.isAt(at, ORDINAL)); links++) at++
  const words = reading.tokens.slice(at, at + most)
  const end = words.findIndex((word, i) => !WORD.test(word) || (i > 0 && reading.isAt(at + i, OF_CLAUSE)))
  return end < 0 ? words : words.slice(0, end)
}

/** Whether `number two` or `is the second` stands here. */
function isNumbered(reading: Reading, at: number): boolean {
  const from = reading.isAt(at, NUMERO) ? at + 1 : at
  if (reading.isAt(from, NUMERAL)) return true
  return reading.isAt(at, IS) && reading.isAt(reading.tokens[at + 1] === 'the' ? at + 2 : at + 1, ORDINAL)
}

/** Reads the numbers in a text that may be a block's, but for those that are only examples. */
function readNumbers(text: string, isExample: (start: number, end: number) => boolean = () => false): string[] {
  const isMeant = ({ 0: whole, index }: RegExpExecArray): boolean => !isExample(index, index + whole.length)
  const bracketed = [...matchesOf(BRACKETED, text)].filter(isMeant)
  const numbered = [...matchesOf(NUMBERED, text)].filter(isMeant)
  return [
    ...bracketed.flatMap(([, numbers]) => numbers!.split(/\D+/).map((number) => `[ ${number}`)),
    ...numbered.flatMap(({ 0: whole, groups }) => readNumber(/\d+/.exec(whole)![0], groups?.word, groups?.mark)),
  ]
}

function readNumber(number: string, word: string | undefined, mark: string | undefined): string[] {
  if (word === undefined) return [`* ${number}`]
  const named = namesOf(number, word, true)
  return mark !== undefined && /\p{L}/u.test(mark) ? [`* ${number}`, ...named] : named
}

const KIN = signsOfTerm('KIN|TEXT|number+|no|nr|nummer|numéro|número')
const PART = signsOfTerm('section+|part+|point+')

function namesOf(number: string, word: string, mayBeKin: boolean): string[] {
  const own = `${toSingular(word)} ${number}`
  if (!mayBeKin) return [own]
  const reading = new Reading(word.toLowerCase())
  return [...(reading.isAt(0, KIN) ? [`* ${number}`] : []), ...(reading.isAt(0, PART) ? ['~ nth'] : []), own]
}

/** Returns a word in the singular, in lower case. */
export function toSingular(word: string): string {
  const lower = word.toLowerCase()
  return lower.endsWith('ies') ? `${lower.slice(0, -3)}y` : lower.replace(/(?<=[^s])s$/, '')
}
