import type { Span } from '../../../common/json/json-spans.ts'
import { number, type TemplateGap } from '../learnt-template.ts'

/** A separator in a text: what stays in place, and the numbers of the whole pattern. */
export interface Gap extends Span {
  /** Where the whole pattern stands. */
  readonly match: Span
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
  const gaps: Gap[] = []
  for (const found of text.matchAll(toExpression(pattern))) {
    const [match, ...places] = found.indices!.map((span) => ({ start: span![0], end: span![1] })) as [Span, ...Span[]]
    const start = kept === 'behind' ? places[varied]!.end : match.start
    const end = kept === 'before' ? places[varied]!.start : match.end
    gaps.push({ start, end, match, numbers: found.slice(1).map(Number), places })
    if (gaps.length >= most) break
  }
  return gaps
}

export function countGaps(text: string, pattern: string): number {
  if (pattern.includes(number)) return Array.from(text.matchAll(toExpression(pattern))).length
  return text.split(pattern).length - 1
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
