import type { CitationLabels } from './citation-labels.ts'
import { isBehindProse } from './is-behind-prose.ts'
import { isValue } from './is-value.ts'
import type { Lookahead } from './lookahead.ts'
import { type CitedLabel, readLabelList, readPrefix, readRange, skipBlanks, skipNumber } from './read-label-list.ts'

/** A place in a text that may be a citation, and what was found there. */
export interface Citation {
  readonly end: number
  /** none if it only looks like a citation */
  readonly labels: readonly CitedLabel[]
  /** it is data in the text */
  readonly isValue?: boolean
}

/** What precedes a bracket. */
export interface Behind {
  readonly line: string
  readonly isCitation: boolean
  /** with nothing but commas in between */
  readonly isValue: boolean
}

const latin = /[A-Za-z0-9_\u00c0-\u024f]/
// a path, a URL, an attribute, a handle
const partOfName = /[A-Za-z0-9_\u00c0-\u024f/\\.@#$=&?%+-]/

/** Reads `[3]`, `[Doc_1, Doc_3]`, `【3】` or `\[3\]` at its opening bracket. */
export function readBracketed(
  ahead: Lookahead,
  { prefixes }: CitationLabels,
  behind: () => Behind,
): Citation | undefined {
  const isWide = ahead.peek() === '【'
  const isEscaped = ahead.take('\\')
  ahead.at += 1
  if (ahead.take('^')) return readFootnote(ahead)
  skipBlanks(ahead)
  const labels = readRange(ahead) ?? readLabelList(ahead, prefixes)
  if (!labels) return undefined
  // some models give the place in the source: 【3†L10-L15】
  if (isWide && ahead.peek() === '†') return { end: ahead.at, labels }
  if (isBeforePage(ahead)) return { end: ahead.at, labels }
  skipBlanks(ahead)
  if (!ahead.take(isWide ? '】' : isEscaped ? '\\]' : ']')) return undefined
  const end = ahead.at
  if (isWide) return { end, labels }
  return judge(ahead, labels, behind())
}

/** Whether a page of the source follows, as in `[3, p. 5]`. Does not move `ahead`. */
function isBeforePage(ahead: Lookahead): boolean {
  const start = ahead.at
  const isPage =
    ahead.take(',') &&
    skipBlanks(ahead) > 0 &&
    ['pp.', 'p.', 'pages', 'page'].some((word) => ahead.take(word)) &&
    skipBlanks(ahead) >= 0 &&
    /\d/.test(ahead.peek())
  ahead.at = start
  return isPage
}

/** Reads `[^3]`, a footnote: its number in the note itself is mapped the same way. */
function readFootnote(ahead: Lookahead): Citation | undefined {
  const start = ahead.at
  if (!skipNumber(ahead)) return undefined
  const label = { start, end: ahead.at, prefix: '' }
  // as in a regular expression
  if (!ahead.take(']') || /[\w*+?{(\\$^|/]/.test(ahead.peek() || ' ')) return undefined
  return { end: ahead.at, labels: [label] }
}

function judge(ahead: Lookahead, labels: CitedLabel[], { line, isCitation, isValue }: Behind): Citation {
  const end = ahead.at
  if (isValue || (!isCitation && isData(ahead, labels, line))) return { end, labels: [], isValue: true }
  return { end, labels: isLinkOrCode(ahead, line) ? [] : labels }
}

/** Whether the bracket is data. `Document 3` in brackets means the document, except in code. */
function isData(ahead: Lookahead, labels: readonly CitedLabel[], line: string): boolean {
  const isPlain = labels.every(({ prefix }) => prefix === '')
  return isPlain ? isValue(line, ahead, labels.length > 1 || labels[0]?.isRange === true) : !isBehindProse(line)
}

/** Reads `Document 3`, `Doc_3` or `Documents 1 and 3` at its first letter; `before` is the character before it. */
export function readSpoken(ahead: Lookahead, { prefixes }: CitationLabels, before: string): Citation | undefined {
  if (partOfName.test(before)) return undefined
  const spoken = readPrefix(ahead, prefixes)
  if (!spoken || spoken.prefix.isBracketed) return undefined
  const { prefix, isPlural } = spoken
  if (isPlural) {
    const labels = readLabelList(ahead, prefixes, prefix.key)
    return labels && isWordEnd(ahead) && !isRange(ahead) ? { end: ahead.at, labels } : undefined
  }
  const start = ahead.at
  if (!skipNumber(ahead) || !isWordEnd(ahead)) return undefined
  return { end: ahead.at, labels: [{ start, end: ahead.at, prefix: prefix.key }] }
}

/**
 * Whether this is a link or code: `[3](http…)`, `[3]: http…` at the beginning of a line, `[3] = 0`, `values[3].name`.
 */
function isLinkOrCode(ahead: Lookahead, line: string): boolean {
  const next = ahead.peek()
  if (next === '(') return true
  if (next === '.') return isMember(ahead.peek(1), line)
  if (next === ':') return /^\s*$/.test(line) && isLinkTarget(ahead)
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

function isLinkTarget(ahead: Lookahead): boolean {
  ahead.at += 1
  skipBlanks(ahead)
  if ('</#.'.includes(ahead.peek() || ' ')) return true
  const start = ahead.at
  ahead.skip('abcdefghijklmnopqrstuvwxyz', 10)
  return ahead.since(start) === 'www' || (ahead.at > start && ahead.peek() === ':' && ahead.peek(1) !== ' ')
}

/** Whether the number ends here, and is not part of another number, of a range or of a file name. */
function isWordEnd(ahead: Lookahead): boolean {
  const next = ahead.peek()
  if (latin.test(next)) return false
  if (next === '.' || next === ',' || next === '/' || next === '\\') return !latin.test(ahead.peek(1))
  if (next === '-' || next === '–' || next === '—') return !/\d/.test(ahead.peek(1))
  return true
}

function isRange(ahead: Lookahead): boolean {
  const end = ahead.at
  const blanks = skipBlanks(ahead)
  const isTo = blanks > 0 && (ahead.take('to') || ahead.take('through'))
  const isRange = isTo || ahead.skip('-–—', 1) > 0 ? skipBlanks(ahead) > 0 && /\d/.test(ahead.peek()) : false
  ahead.at = end
  return isRange
}
