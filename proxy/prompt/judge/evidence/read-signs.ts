import type { ContextList } from '../../context-list.ts'
import { findIndexFrom } from '../../scan/find-edges.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { type Announcement, isAsked, opensPrompt } from '../read-evidence.ts'
import type { Sign } from './weigh-evidence.ts'

/** Yields the evidence for a list apart from its marks. Signs that need the most reading come last. */
export function* readSigns(marks: Marks, list: ContextList, announcement: Announcement): Generator<Sign> {
  const { source, whole, text, turns } = marks
  if (source === 'search' || (whole && source === undefined)) yield 'searched'
  if (list.inContainer) yield 'held'
  if (list.hasOrigins) yield 'origins'
  const { announcesSet, announcesText } = announcement
  if (announcesSet) yield 'set'
  if (announcesText) yield 'text'
  const { start } = list.blocks[0]!
  // the question may be in another message, after the one that announces what it is about
  const from = turns[findIndexFrom(turns, start + 1) - 1]?.start ?? 0
  if ((marks.asked && announcesText) || isAsked(text, { start, end: list.end }, from)) yield 'asked'
  if (opensPrompt(text, { start, end: list.end }, from)) yield 'opens'
}
