import type { Span } from '../../common/json/json-spans.ts'
import type { CitationLabels, Labels } from './citation-labels.ts'
import { NO_SPACES } from './citation-nouns.ts'
import { isValue } from './is-value.ts'
import type { Lookahead } from './lookahead.ts'
import { type Opening, readOpening } from './read-opening.ts'

/*
 * A citation is an opening, numbers, and what closes them:
 *   a bracket    [3]  [1, 3]  [4–5]  【3】  【3†source】  [^3]  [^3^]  [[3]]  \[3\]  [3, p. 5]  <cite>3</cite>
 *                (3) if the labels of the list are written so
 *   a noun       Document 3  Documents 1 and 3  source #3  Doc. No. 3  Source ID: 3  Doc_3
 *   counted      第3个文档  3번 문서  3番目の文書
 *   both         [Doc 3]  [citation:3]  [Sources: 1, 3]  (Source 3)  Sources (3)
 * Only the numbers change.
 */

/** A place in a text that may be a citation, and what was found there. */
export interface Citation {
  readonly end: number
  /** numbers and ranges; none if it only looks like a citation */
  readonly numbers: readonly Span[]
  readonly cited: Labels | undefined
  /** it is data in the text */
  readonly isValue?: boolean
}

/** What precedes an opening of `length` characters. */
interface Behind {
  /** a citation, with nothing in between */
  isCitation(length: number): boolean
  /** a value, with nothing but commas in between */
  isValue(length: number): boolean
}

const letter = /[\p{L}\p{M}\p{N}_%°€$£]/u

/** Reads a citation whose first number is ahead; `line` is the text before it. */
export function readCitation(
  ahead: Lookahead,
  labels: CitationLabels,
  line: string,
  behind: Behind,
): Citation | undefined {
  const opening = readOpening(line, labels)
  if (!opening) return readCounted(ahead, labels)
  const { bracket, before, cited } = opening
  if (bracket === '') return readSpoken(ahead, opening)
  const isSlashed = bracket === '[' && /\p{L} ?$/u.test(before)
  const numbers = readNumbers(ahead, true, isSlashed ? `${separators}/+|` : separators)
  const isList = numbers !== undefined && (numbers.length > 1 || /\D/.test(ahead.since(numbers[0]!.start)))
  // a range would be a class of characters
  if (!numbers || (bracket === '[^' && isList && numbers.length === 1)) return undefined
  const closed = takeClosing(ahead, bracket)
  if (!closed) return undefined
  const end = ahead.at
  if (closed === 'surely') return { end, numbers, cited }
  const length = line.length - before.length
  if (behind.isValue(length) || (!behind.isCitation(length) && isValue(before, ahead, isList))) {
    return { end, numbers: [], cited, isValue: true }
  }
  return { end, numbers: isImageOrCode(ahead, before) ? [] : numbers, cited }
}

/** Reads the numbers after a noun. Several must end a clause or bracket, unless it is a plural. */
function readSpoken(ahead: Lookahead, { cited, isPlural, isLoose, isAlone }: Opening): Citation | undefined {
  const start = ahead.at
  let numbers = readNumbers(ahead, true)
  if (!isPlural && numbers && numbers.length > 1 && !isListEnd(ahead)) {
    ahead.at = start
    numbers = readNumbers(ahead, false)
  }
  if (!numbers || !isWordEnd(ahead)) return undefined
  if (isAmount(ahead)) return undefined
  const end = ahead.at
  if (isLoose && (ahead.peek() === '(' || ahead.take(' of '))) return undefined
  if (isAlone && !isClauseEnd(ahead)) return undefined
  return { end, numbers, cited }
}

const units = new Set('seconds minutes hours days weeks months years times digits'.split(' '))

// `Source 2 and 4 say so`
const verbs = new Set('say says state agree differ mention show confirm both are have'.split(' '))
// `資料3点を`, `문서 3개`, but not `资料3点明`
const counters = '点枚件冊個つ개건권'

/** Whether the numbers count something, as in `bring documents 2 to 3 weeks before`. */
function isAmount(ahead: Lookahead): boolean {
  if (counters.includes(ahead.peek() || '-')) return !/\p{Script=Han}/u.test(ahead.peek(1))
  return ahead.peek() === ' ' && units.has(ahead.peekWord(1))
}

/** Whether a clause or bracket ends: in `document 1, 3 people`, the second number is none of a list. */
function isListEnd(ahead: Lookahead): boolean {
  const next = ahead.peek()
  if (next === ' ') return verbs.has(ahead.peekWord(1))
  return next === '' || /[)\]】;!?\n]/.test(next) || (next === '.' && !/\d/.test(ahead.peek(1)))
}

/** Steps over what closes a bracket. `surely`: it cannot be a value. */
function takeClosing(ahead: Lookahead, bracket: Opening['bracket']): 'surely' | 'maybe' | undefined {
  // 【3†L10-L15】
  const isSure = ahead.peek() === '†' || takePage(ahead) || surelyClosed[bracket]?.(ahead) === true
  if (isSure) return 'surely'
  skipBlanks(ahead)
  const isClosed =
    bracket === '[' ? [']', '\\]', '］'].some((sign) => ahead.take(sign)) : bracket === '(' && ahead.take(')')
  return isClosed ? 'maybe' : undefined
}

const surelyClosed: Partial<Record<Opening['bracket'], (ahead: Lookahead) => boolean>> = {
  '[^': isFootnoteEnd,
  '<': (ahead) => '</>"\''.includes(ahead.peek() || 'x'),
  '【': (ahead) => skipBlanks(ahead) >= 0 && (ahead.take('】') || ahead.take('〕')),
  '（': (ahead) => ahead.take('）') && /[^\p{L}\p{N}]/u.test(ahead.peek() || '.'),
  第: (ahead) => {
    ahead.skip('个個篇份条條段', 1)
    return countedNouns.some((noun) => ahead.take(noun))
  },
}

const countedNouns =
  '文档 文檔 文件 文章 资料 資料 来源 來源 文献 片段 段落 文書 ドキュメント 出典 문서 자료 출처 문헌'.split(' ')

/** Reads `3번 문서` and `3番目の文書`. */
function readCounted(ahead: Lookahead, { bare }: CitationLabels): Citation | undefined {
  const numbers = readNumbers(ahead, false)
  if (!numbers || !['번째', '번', '番目の', 'つ目の'].some((sign) => ahead.take(sign))) return undefined
  skipBlanks(ahead)
  return countedNouns.some((noun) => ahead.take(noun)) ? { end: ahead.at, numbers, cited: bare } : undefined
}

/** Steps over the end of a footnote mark, unless it is that of a regular expression. */
function isFootnoteEnd(ahead: Lookahead): boolean {
  ahead.take('^')
  return ahead.take(']') && !/[\w*+?{(\\$^|/]/.test(ahead.peek() || ' ')
}

/** Steps over a page of the source, as in `[3, p. 5]`. */
function takePage(ahead: Lookahead): boolean {
  const start = ahead.at
  const isPage =
    (ahead.take(',') || ahead.take(':')) &&
    skipBlanks(ahead) > 0 &&
    ['pp.', 'p.', 'pages', 'page', 'lines', 'line', 'paragraphs', 'paragraph', 'section', '§'].some((word) =>
      ahead.take(word),
    ) &&
    skipBlanks(ahead) >= 0 &&
    readNumbers(ahead, false) !== undefined
  if (!isPage) ahead.at = start
  return isPage
}

/** Whether this is an image or code: `![3](http…)`, `[3] = 0`, `values[3].name`. */
function isImageOrCode(ahead: Lookahead, line: string): boolean {
  const next = ahead.peek()
  if (line.endsWith('!')) return next === '('
  if (next === '.') return isMember(ahead.peek(1), line)
  const blanks = skipBlanks(ahead)
  return ahead.peek() === '=' || (blanks === 0 && ahead.peek() === '+')
}

/**
 * Whether a `.` accesses a member. Models leave out the space before a sentence: in `in Spain [3].Paris` no code
 * precedes the bracket.
 */
function isMember(first: string, line: string): boolean {
  return /[a-z_]/.test(first) || (/[A-Z]/.test(first) && /\w$/.test(line))
}

/** Whether the number ends here, and is not part of another number, of a range or of a file name. */
function isWordEnd(ahead: Lookahead): boolean {
  const next = ahead.peek()
  if (letter.test(next) && !NO_SPACES.test(next)) return false
  if ('.,/\\:'.includes(next || 'x')) return !/[A-Za-z0-9_\u00c0-\u024f]/.test(ahead.peek(1))
  if ('-–—'.includes(next || 'x')) return !/\d/.test(ahead.peek(1))
  return true
}

function isClauseEnd(ahead: Lookahead): boolean {
  ahead.skip('*_', 3)
  skipBlanks(ahead)
  return !/[\p{L}\p{N}]/u.test(ahead.peek())
}

/** longer lists are not citations: the bound limits how much of a stream is held back */
const longestList = 16
const mostBlanks = 2
const mostDigits = 6
const blanks = ' \t\u00a0'
const rangeSpaces = '\u2002\u2003\u2004\u2005\u2009'
const separators = ',;，；、和与と،؛'
const conjunctions = 'and or nor also & und oder sowie noch et ou ni y en e och og и или'.split(' ')

/**
 * Reads `3`, `1, 3`, `4–5`, `1, 2 and 4 to 6`: numbers and ranges, only one unless `isList`. Ends after the last.
 * Returns undefined if none begins here or there are too many.
 */
function readNumbers(ahead: Lookahead, isList: boolean, marks = separators): Span[] | undefined {
  const numbers: Span[] = []
  for (;;) {
    const behindLast = ahead.at
    if (numbers.length > 0 && !skipSeparator(ahead, marks)) return numbers
    if (numbers.length > 0) skipMark(ahead)
    const start = ahead.at
    if (!skipNumber(ahead)) {
      ahead.at = behindLast
      return numbers.length > 0 ? numbers : undefined
    }
    skipRange(ahead)
    if (numbers.length === longestList) return undefined
    numbers.push({ start, end: ahead.at })
    if (!isList) return numbers
  }
}

/** Steps over the digits of a label; returns whether there is a valid one. */
function skipNumber(ahead: Lookahead): boolean {
  const digits = ahead.skip('0123456789', mostDigits + 1)
  return digits > 0 && digits <= mostDigits
}

/** Steps over a sign in front of a further number, as in `documents n° 1 et n° 3`. */
function skipMark(ahead: Lookahead): void {
  if (['^', '#', '№', 'n°', 'nº', 'n.º', 'no.', 'nr.', 'Nr.'].some((mark) => ahead.take(mark))) skipBlanks(ahead)
}

/** Steps over a few blanks. */
function skipBlanks(ahead: Lookahead): number {
  return ahead.skip(blanks, mostBlanks)
}

/** Steps over what makes a range of the number before it, or over the rest of a range that was written as a list. */
function skipRange(ahead: Lookahead): void {
  const start = ahead.at
  if (['-', '–', '—', ' to ', ' through '].some((sign) => ahead.take(sign)) && skipNumber(ahead)) return
  ahead.at = start
  for (let end = start; ; end = ahead.at) {
    if (ahead.take(',') && ahead.skip(rangeSpaces, 1) > 0 && skipNumber(ahead)) continue
    ahead.at = end
    return
  }
}

function skipSeparator(ahead: Lookahead, marks: string): boolean {
  const start = ahead.at
  const blanksBefore = skipBlanks(ahead)
  const hasMark = ahead.skip(marks, 1) > 0
  const isApart = (hasMark ? skipBlanks(ahead) : blanksBefore) > 0
  const hasWord = isApart && conjunctions.some((word) => ahead.take(word)) && skipBlanks(ahead) > 0
  if (hasMark || hasWord) return true
  ahead.at = start
  return false
}
