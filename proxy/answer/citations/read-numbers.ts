import type { Span } from '../../json/json-spans.ts'
import type { Lookahead } from './lookahead.ts'

/** longer lists are not citations: the bound limits how much of a stream is held back */
const longestList = 16
const mostBlanks = 2
const mostDigits = 6
const blanks = ' \t\u00a0'
const rangeSpaces = '\u2002\u2003\u2004\u2005\u2009'
const separators = ',;，；、和与'
const conjunctions = ['and', 'or', '&', 'und', 'oder', 'et', 'ou', 'y', 'и']

/**
 * Reads `3`, `1, 3`, `4–5`, `1, 2 and 4 to 6`: numbers and ranges, only one unless `isList`. Ends after the last.
 * Returns undefined if none begins here or there are too many.
 */
export function readNumbers(ahead: Lookahead, isList: boolean): Span[] | undefined {
  const numbers: Span[] = []
  for (;;) {
    const behindLast = ahead.at
    if (numbers.length > 0 && !skipSeparator(ahead)) return numbers
    if (numbers.length > 0) ahead.skip('^#', 1)
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

/** Steps over a few blanks. */
export function skipBlanks(ahead: Lookahead): number {
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

function skipSeparator(ahead: Lookahead): boolean {
  const start = ahead.at
  const blanksBefore = skipBlanks(ahead)
  const hasMark = ahead.skip(separators, 1) > 0
  const isApart = (hasMark ? skipBlanks(ahead) : blanksBefore) > 0
  const hasWord = isApart && conjunctions.some((word) => ahead.take(word)) && skipBlanks(ahead) > 0
  if (hasMark || hasWord) return true
  ahead.at = start
  return false
}
