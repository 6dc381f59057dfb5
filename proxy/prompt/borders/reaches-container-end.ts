import { readCue } from '../scan/find-cue-line.ts'
import { findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import type { LabelledRegion, LabelRun } from './find-label-run.ts'
import type { Ending } from './find-list-end.ts'
import type { Interior } from './list-interior.ts'

/**
 * Returns whether only the container's end can end the last block, because the question is outside, behind it or in
 * another message, and no other list follows inside.
 */
export function reachesContainerEnd(
  { marks, region }: LabelledRegion,
  run: LabelRun,
  interior: Interior,
  ending: Ending,
): boolean {
  if (!region.container || run.limit !== region.end || !(marks.asked || isFollowed(marks, region))) return false
  if (interior.blank || ending.paragraph === undefined) return true
  const next = [marks.labels, region.elements].map((items) => items[findIndexFrom(items, ending.paragraph!)]?.start)
  return next.every((start) => start === undefined || start >= region.end)
}

/** Returns whether the prompt continues after a container with more than an `Answer:`. */
function isFollowed({ text, tags, turns }: Marks, { end }: Region): boolean {
  const limit = turns[findIndexFrom(turns, end + 1) - 1]!.end
  const start = findContentStart(text, tags[findIndexFrom(tags, end)]!.end, limit)
  const cue = readCue(text, start)
  return (
    start < limit && !(cue?.answer && cue.empty && findContentStart(text, findLineEnd(text, start), limit) === limit)
  )
}
