import type { Span } from '../../../common/json/json-spans.ts'
import { number, type TemplateGap } from '../learnt-template.ts'

/** A separator in a text: what stays in place, and the numbers of the whole pattern. */
export interface Gap {
  readonly start: number
  readonly end: number
  /** Where the whole pattern stands. */
  readonly matchStart: number
  readonly matchEnd: number
  readonly numbers: readonly number[]
  readonly places: readonly Span[]
}

const expressions = new Map<string, RegExp>()
const mostExpressions = 256

/** Finds where a pattern stands, from the left, without overlaps, `most` times at most. */
export function findGaps(
  text: string,
  { pattern, numbers, kept }: Pick<TemplateGap, 'pattern' | 'numbers' | 'kept'>,
  most: number = Number.POSITIVE_INFINITY,
): Gap[] {
  const varied = numbers.indexOf('varied')
  const matches: RegExpExecArray[] = []
  for (const match of text.matchAll(toExpression(pattern))) {
    matches.push(match)
    if (matches.length >= most) break
  }
  return matches.map((match) => {
    const end = match.index + match[0].length
    const spans = match.indices!
    return {
      start: kept === 'behind' ? spans[varied + 1]![1] : match.index,
      end: kept === 'before' ? spans[varied + 1]![0] : end,
      matchStart: match.index,
      matchEnd: end,
      numbers: match.slice(1).map(Number),
      places: spans.slice(1).map((span) => ({ start: span![0], end: span![1] })),
    }
  })
}

export function countGaps(text: string, pattern: string): number {
  if (pattern.includes(number)) return Array.from(text.matchAll(toExpression(pattern))).length
  let count = 0
  for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + pattern.length)) count++
  return count
}

function toExpression(pattern: string): RegExp {
  const known = expressions.get(pattern)
  if (known !== undefined) return known
  if (expressions.size >= mostExpressions) expressions.clear()
  const source = pattern.split(number).map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const expression = new RegExp(source.join('(\\d{1,9})'), 'gd')
  expressions.set(pattern, expression)
  return expression
}
