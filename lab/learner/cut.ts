import { countGaps, findGaps, type Gap } from './gaps/find-gaps.ts'
import type { LearntTemplate, TemplateEnd } from './learnt-template.ts'

/** A document in a text. Its content may change places with others; what separates them, and labels, stay. */
interface CutBlock {
  readonly start: number
  readonly end: number
  readonly contentStart: number
  readonly contentEnd: number
  readonly label?: string
}

/** Share of the separators found that must be those of the list; others stand in the text around it. */
const leastInList = 0.6

/**
 * Cuts a text at the borders of a template: exactly, or not at all. The first and the last document are left out where the
 * template does not know their outer border. Undefined if anything is not as the template has it, or fewer than two are left.
 */
export function cut(text: string, template: LearntTemplate): CutBlock[] | undefined {
  const found = findGaps(text, template.gap)
  const isOdd = template.gap.checks.some(({ pattern, more }) => countGaps(text, pattern) !== found.length + more)
  const gaps = isOdd ? undefined : chooseGaps(found, template)
  if (gaps === undefined) return undefined
  const first = template.open === undefined ? undefined : findOpen(text, template.open, gaps[0]!.start)
  const last = template.end === undefined ? undefined : findEnd(text, template.end, gaps.at(-1)!.end)
  if (first === -1 || last === -1) return undefined
  // others may stand before the list and behind it, where it is known to begin and to end
  const isInList = (gap: Gap): boolean =>
    !gaps.includes(gap) && gap.end > (first ?? 0) && gap.start < (last ?? text.length)
  if (found.some(isInList)) return undefined
  const starts = [first, ...gaps.map(({ end }) => end)]
  const ends = [...gaps.map(({ start }) => start), last]
  const labels = labelsOf(gaps, template)
  const blocks = starts.flatMap((start, i) => {
    const end = ends[i]
    if (start === undefined || end === undefined) return []
    const label = labels?.[i]
    return [{ start, end, contentStart: start, contentEnd: end, ...(label === undefined ? {} : { label: `${label}` }) }]
  })
  return blocks.length >= 2 && blocks.every(({ start, end }) => start < end) ? blocks : undefined
}

/** The separators of the list: those that count up by one, if they have a number that does. */
function chooseGaps(found: readonly Gap[], { gap }: LearntTemplate): readonly Gap[] | undefined {
  const up = gap.numbers.flatMap((kind, i) => (kind === 'up' ? [i] : []))
  if (found.length === 0) return undefined
  if (up.length === 0) return found
  const runs: Gap[][] = []
  for (const one of found) {
    const before = runs.at(-1)?.at(-1)
    if (before !== undefined && up.every((i) => one.numbers[i] === before.numbers[i]! + 1)) runs.at(-1)!.push(one)
    else runs.push([one])
  }
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best))
  const isBegin = up.every((i) => longest[0]!.numbers[i] === gap.first[i])
  return isBegin && longest.length >= leastInList * found.length ? longest : undefined
}

/** Returns where the first document begins, -1 if that is not certain. */
function findOpen(text: string, { kind, text: open }: TemplateEnd, limit: number): number {
  if (kind === 'whole') return open.length <= limit && text.startsWith(open) ? open.length : -1
  const at = text.lastIndexOf(open, limit - open.length)
  return at < 0 || text.indexOf(open) !== at ? -1 : at + open.length
}

/** Returns where the last document ends, -1 if that is not certain. */
function findEnd(text: string, { kind, text: end }: TemplateEnd, from: number): number {
  const whole = text.length - end.length
  if (kind === 'whole') return whole >= from && text.endsWith(end) ? whole : -1
  const at = text.indexOf(end, from)
  return at < 0 || text.indexOf(end, at + 1) >= 0 ? -1 : at
}

/** The number of each document, from that of the separators before or behind it. */
function labelsOf(gaps: readonly Gap[], { gap, label }: LearntTemplate): number[] | undefined {
  if (label === undefined) return undefined
  const index = label === 'before' ? gap.numbers.lastIndexOf('up') : gap.numbers.indexOf('up')
  const values = gaps.map(({ numbers }) => numbers[index]!)
  return label === 'before' ? [values[0]! - 1, ...values] : [...values, values.at(-1)! + 1]
}
