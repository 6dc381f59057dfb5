import { findIndexFrom } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import { type Fence, FenceWalk } from '../scan/find-fences.ts'
import type { LineNotes } from '../scan/find-line-notes.ts'
import type { Marks } from '../scan/find-marks.ts'
import type { Label } from '../scan/labels/label.ts'
import { findEnding } from './find-list-end.ts'
import { readInterior } from './list-interior.ts'

/** A region with the labels and fences in it, excluding those inside its elements. */
export interface LabelledRegion {
  readonly marks: Marks
  readonly region: Region
  readonly lines: LineNotes
  readonly fences: readonly Fence[]
  readonly forms: ReadonlyMap<string, readonly Label[]>
}

/** Labels of one form that may begin the blocks of one list. */
export interface LabelRun {
  readonly labels: readonly Label[]
  readonly positional: boolean
  /** The furthest possible end of the last block. */
  readonly limit: number
}

/** Returns the run that this label begins. Undefined if it is unclear which labels of its form belong to one list. */
export function findRun(labelled: LabelledRegion, first: Label): LabelRun | undefined {
  const labels = labelled.forms.get(first.form)!
  const from = findIndexFrom(labels, first.start)
  const to = findCountEnd(labels, from)
  const limit = labelled.region.end
  if (to === labels.length) return { labels: labels.slice(from), positional: true, limit }
  if (to > from && isWhole(labelled, labels, from, to)) {
    return { labels: labels.slice(from, to), positional: true, limit: labels[to]!.start }
  }
  if (first.bare) return undefined
  // numbers that count up and then jump or repeat are two lists, or one list with a document that holds such a label
  return to - from > 1 ? undefined : { labels: labels.slice(from), positional: false, limit }
}

// returns the index after the labels that count up from 0 or 1
function findCountEnd(labels: readonly Label[], from: number): number {
  const first = labels[from]!.number
  if (first === undefined || first > 1) return from
  let at = from + 1
  while (at < labels.length && labels[at]!.number === first + at - from) at++
  return at
}

// returns whether the run certainly ends before the next label, which either begins another run or is in fenced code
function isWhole(
  { marks, region, lines, fences }: LabelledRegion,
  labels: readonly Label[],
  from: number,
  to: number,
): boolean {
  const run = labels.slice(from, to)
  const interior = readInterior(marks.text, lines, run)
  const { certain } = findEnding(marks, lines, run, interior, labels[to]!.start)
  if (certain === undefined) return false
  const walk = new FenceWalk(fences, certain)
  let at = certain
  for (let i = to; i < labels.length; i++) {
    const { start, number } = labels[i]!
    if (start < at) continue
    at = walk.pass(at, start, region.end)
    if (at > start) continue
    // if the number missing from this run follows the next run, the last block may quote that next run
    return number !== undefined && number <= 1 && labels[findCountEnd(labels, i)]?.number !== run.at(-1)!.number! + 1
  }
  return true
}
