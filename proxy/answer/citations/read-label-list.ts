import type { Span } from '../../json/json-spans.ts'
import type { Prefix } from './citation-labels.ts'
import type { Lookahead } from './lookahead.ts'

/** A label in a text, with the prefix it is cited by. */
export interface CitedLabel extends Span {
  readonly prefix: string
  /** the label is a range, `1-3` */
  readonly isRange?: boolean
}

/** longer lists are not citations: the bound limits how much of a stream is held back */
const longestList = 16
const mostBlanks = 2
const mostDigits = 6
const blanks = ' \t\u00a0'
const separators = ',;，；、'

/**
 * Reads `3`, `1, 3`, `Doc_1; Doc_3`, `Document 1 and 3`: labels with or without their own prefix, the first one after
 * `prefix`. Ends after the last label. Returns undefined if no label begins here or the list is too long.
 */
export function readLabelList(ahead: Lookahead, prefixes: readonly Prefix[], prefix = ''): CitedLabel[] | undefined {
  const labels: CitedLabel[] = []
  let current = prefix
  for (;;) {
    const behindLast = ahead.at
    if (labels.length > 0 && !skipSeparator(ahead)) return labels
    current = readPrefix(ahead, prefixes)?.prefix.key ?? current
    const start = ahead.at
    if (!skipNumber(ahead)) {
      ahead.at = behindLast
      return labels.length > 0 ? labels : undefined
    }
    if (labels.length === longestList) return undefined
    labels.push({ start, end: ahead.at, prefix: current })
  }
}

/** Reads `1-3` if the bracket contains nothing else; otherwise does not move. */
export function readRange(ahead: Lookahead): CitedLabel[] | undefined {
  const start = ahead.at
  if (skipNumber(ahead) && ahead.skip('-–', 1) > 0 && skipNumber(ahead) && ']】\\'.includes(ahead.peek() || 'x')) {
    return [{ start, end: ahead.at, prefix: '', isRange: true }]
  }
  ahead.at = start
  return undefined
}

/** Reads a prefix in one of its forms; does not move if there is none. */
export function readPrefix(
  ahead: Lookahead,
  prefixes: readonly Prefix[],
): { prefix: Prefix; isPlural: boolean } | undefined {
  const start = ahead.at
  for (const prefix of prefixes) {
    if (!prefix.initials.includes(ahead.peek())) continue
    ahead.at = start + 1
    if (takeEscaped(ahead, prefix.rest)) return { prefix, isPlural: false }
    ahead.at = start + 1
    if (prefix.plural !== undefined && ahead.take(prefix.plural)) return { prefix, isPlural: true }
    ahead.at = start
  }
  return undefined
}

/** Steps over the digits of a label; returns whether there is a valid one. */
export function skipNumber(ahead: Lookahead): boolean {
  const digits = ahead.skip('0123456789', mostDigits + 1)
  return digits > 0 && digits <= mostDigits
}

/** Steps over a few blanks. */
export function skipBlanks(ahead: Lookahead): number {
  return ahead.skip(blanks, mostBlanks)
}

/** Markdown writes `Doc\_3` for `Doc_3`. */
function takeEscaped(ahead: Lookahead, text: string): boolean {
  for (const character of text) {
    if (character === '_' && ahead.peek() === '\\') ahead.at += 1
    if (!ahead.take(character)) return false
  }
  return true
}

function skipSeparator(ahead: Lookahead): boolean {
  const start = ahead.at
  const blanksBefore = skipBlanks(ahead)
  const hasMark = ahead.skip(separators, 1) > 0
  const isApart = (hasMark ? skipBlanks(ahead) : blanksBefore) > 0
  const hasWord = isApart && (ahead.take('and') || ahead.take('or') || ahead.take('&')) && skipBlanks(ahead) > 0
  if (hasMark || hasWord) return true
  ahead.at = start
  return false
}
