import type { Lookahead } from './lookahead.ts'

/** A region of a Markdown text: prose, a code span or a fenced block. */
export type Region =
  | { readonly kind: 'prose' }
  | { readonly kind: 'span'; readonly length: number }
  | { readonly kind: 'fence'; readonly sign: string; readonly length: number; readonly isFirstLine: boolean }

const prose: Region = { kind: 'prose' }

const longestRun = 64
const listItem = /^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?$/
const indentation = /^[ \t>]*$/

/** Returns the place, from `at` on, of the next character that can end the region. */
export function findCodeStop(region: Exclude<Region, { kind: 'prose' }>, text: string, at: number): number {
  const sign = region.kind === 'span' ? '`' : region.sign
  const next = text.indexOf(sign, at)
  if (region.kind === 'fence' && !region.isFirstLine) return next < 0 ? text.length : next
  const newline = text.indexOf('\n', at)
  return Math.min(next < 0 ? text.length : next, newline < 0 ? text.length : newline)
}

/** Returns the region after a run of backticks or tildes in prose; `line` is what precedes it. */
export function enterCode(ahead: Lookahead, line: string): Region {
  const sign = ahead.peek()
  const length = ahead.skip(sign, longestRun)
  // models open fences after words too; tildes there are strikethrough
  const isFence = length >= 3 && (sign === '`' || listItem.test(line))
  if (isFence) return { kind: 'fence', sign, length, isFirstLine: true }
  return sign === '`' ? { kind: 'span', length } : prose
}

/** Returns the region after the stop in code that `ahead` is at. A code span ends with its line at the latest. */
export function passCodeStop(ahead: Lookahead, region: Exclude<Region, { kind: 'prose' }>, line: string): Region {
  if (ahead.take('\n')) return region.kind === 'span' ? prose : { ...region, isFirstLine: false }
  const length = ahead.skip(ahead.peek(), longestRun)
  if (region.kind === 'span') return length === region.length ? prose : region
  if (length < region.length) return region
  // a fence that ends on the line it began on was a span
  if (region.isFirstLine) return region.sign === '`' ? prose : region
  return indentation.test(line) && isRestBlank(ahead) ? prose : region
}

function isRestBlank(ahead: Lookahead): boolean {
  let blanks = 0
  while (blanks < 32 && ' \t'.includes(ahead.peek(blanks) || 'x')) blanks += 1
  return ['', '\n', '\r'].includes(ahead.peek(blanks))
}
