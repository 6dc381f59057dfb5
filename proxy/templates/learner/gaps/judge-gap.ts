import { number, type TemplateGap } from '../learnt-template.ts'
import { countTexts, type StudiedText } from './find-edges.ts'
import { findGaps, type Gap } from './find-gaps.ts'
import {
  countBroken,
  edgesOfLists,
  hasConstant,
  hasInnerCounter,
  isBare,
  isStuck,
  isVolatile,
  type Segments,
} from './judge-contents.ts'

export interface JudgedGap {
  readonly gap: TemplateGap
  readonly lists: readonly Segments[]
  readonly seen: ReadonlyMap<string, number>
  /** For each separator of each list: what is on both sides came again, but not beside each other. */
  readonly edges: readonly (readonly boolean[])[]
  readonly edgeCount: number
}

const fewestTexts = 4
const needed = { whole: 4, bare: 0.3, wholeToBroken: 0.15 } as const
/** Share of the texts in which a number counts up, for it to be a counter. */
const counting = 0.9
const varying = 0.3

/** Judges what may be a separator by what comes back whole between two of them; undefined if it is none. */
export function judgeGap(pattern: string, studied: readonly StudiedText[]): JudgedGap | undefined {
  return readings(pattern, studied)
    .map((gap) => judgeReading(gap, studied))
    .filter((judged) => judged !== undefined)
    .toSorted((a, b) => b.edgeCount - a.edgeCount)[0]
}

/** How a pattern may be read: a number that varies belongs to the document behind it, or before it. */
function readings(pattern: string, studied: readonly StudiedText[]): TemplateGap[] {
  const count = pattern.split(number).length - 1
  const unread = { pattern, numbers: [], kept: 'all' } as const
  const texts = studied
    .map(({ text }) => ({ text, gaps: findGaps(text, unread) }))
    .filter(({ gaps }) => gaps.length >= 2)
  if (texts.length < Math.min(fewestTexts, studied.length)) return []
  const lists = texts.map(({ gaps }) => gaps)
  const kinds = Array.from({ length: count }, (_, i) => kindOf(lists.map((gaps) => gaps.map((gap) => gap.numbers[i]!))))
  const constant = kinds.indexOf('same')
  if (constant >= 0) {
    // one that is the same everywhere is text like any other: with another one, it is another template
    const digits = new Set(texts.flatMap(({ text, gaps }) => gaps.map((gap) => digitsAt(text, gap, constant))))
    return digits.size === 1 ? readings(withDigits(pattern, constant, [...digits][0]!), studied) : []
  }
  if (kinds.some((kind) => kind === undefined)) return []
  const known = kinds as TemplateGap['numbers']
  const first = lists[0]![0]!.numbers
  const isSame = known.every((kind, i) => kind !== 'up' || lists.every(([gap]) => gap!.numbers[i] === first[i]))
  if (!isSame) return []
  const gap = { pattern, numbers: known, first: known.map((kind, i) => (kind === 'up' ? first[i]! : 0)), checks: [] }
  const varied = known.filter((kind) => kind === 'varied').length
  if (varied === 0) return [{ ...gap, kept: 'all' }]
  if (varied > 1) return []
  return (['before', 'behind'] as const).map((kept) => ({ ...gap, kept }))
}

function digitsAt(text: string, { places }: Gap, index: number): string {
  return text.slice(places[index]!.start, places[index]!.end)
}

function withDigits(pattern: string, index: number, digits: string): string {
  const parts = pattern.split(number)
  const [front, behind] = [parts.slice(0, index + 1), parts.slice(index + 1)]
  return front.join(number) + digits + behind.join(number)
}

/** What the values of a number say, list by list; undefined if they are of two kinds. */
function kindOf(lists: readonly (readonly number[])[]): 'up' | 'same' | 'varied' | undefined {
  const up = lists.filter((values) => isCounting(values)).length
  const same = lists.filter((values) => new Set(values).size === 1).length
  if (up >= counting * lists.length) return 'up'
  if (same === lists.length) return 'same'
  return lists.length - up - same >= varying * lists.length ? 'varied' : undefined
}

function isCounting(values: readonly number[]): boolean {
  return values.slice(1).every((value, i) => value === values[i]! + 1)
}

function judgeReading(gap: TemplateGap, studied: readonly StudiedText[]): JudgedGap | undefined {
  const lists = studied.map(({ text }) => segment(text, gap)).filter(({ gaps }) => gaps.length >= 2)
  const seen = countTexts(lists.map((own) => own.contents))
  const contents = lists.flatMap(({ contents }) => contents)
  const whole =
    contents.filter((content) => seen.get(content)! > 1).length - [...seen.values()].filter((count) => count > 1).length
  if (whole < needed.whole || whole < needed.wholeToBroken * countBroken(lists, seen)) return undefined
  if (contents.filter(isBare).length >= needed.bare * contents.length) return undefined
  if (isStuck(lists) || isVolatile(seen) || hasInnerCounter(lists) || hasConstant(lists, seen)) return undefined
  const edges = edgesOfLists(lists, seen)
  return { gap, lists, seen, edges, edgeCount: edges.flat().filter(Boolean).length }
}

function segment(text: string, gap: TemplateGap): Segments {
  const gaps = findGaps(text, gap)
  return { text, gaps, contents: gaps.slice(1).map(({ start }, i) => text.slice(gaps[i]!.end, start)) }
}
