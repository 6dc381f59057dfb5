import type { ContextList } from '../../context-list.ts'
import { findIndexFrom } from '../../scan/find-edges.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { type Announcement, isAnsweredBy, readAsking } from '../read-evidence.ts'
import type { Sign } from './weigh-evidence.ts'

// how a tool that searched begins what it returns
const OF_QUERY =
  /^\s{0,8}(?:search )?(?:results?|matches) for (?:the |your )?(?:search |user )?(?:query|question)(?!\p{L})/iu

/** Yields the evidence for a list apart from its marks. Signs that need the most reading come last. */
export function* readSigns(marks: Marks, list: ContextList, announcement: Announcement): Generator<Sign> {
  yield* readPlace(marks, list)
  const { announcesSet, announcesText } = announcement
  if (announcesSet) yield 'set'
  if (announcesText) yield 'text'
  const { start } = list.blocks[0]!
  const asking = readAsking(marks.text, start, list.end, turnStart(marks, start))
  // the question may be in another message, after the one that announces what it is about
  if (asking.asked || (marks.asked && announcesText)) yield 'asked'
  for (const sign of ['cued', 'cited', 'leads', 'opens'] as const) if (asking[sign]) yield sign
  if (isAnsweredBy(marks.text, start, list.end)) yield 'grounded'
}

/** Yields what the position of a list and its elements show. */
function* readPlace(marks: Marks, list: ContextList): Generator<Sign> {
  const { source, whole } = marks
  if (source === 'search' || (whole && OF_QUERY.test(marks.text)) || (whole && source === undefined)) yield 'searched'
  else if (whole) yield 'told'
  if (list.inContainer) yield 'held'
  if (list.hasOrigins) yield 'origins'
  if (list.form === 'tag' && list.weight === 'weak' && isNamed(marks, list)) yield 'named'
}

function turnStart({ turns }: Marks, at: number): number {
  return turns[findIndexFrom(turns, at + 1) - 1]?.start ?? 0
}

/** Returns whether the prompt mentions the list's tags, as in `use what is in <data></data>`. */
function isNamed({ text, tags }: Marks, { blocks, end }: ContextList): boolean {
  const { start } = blocks[0]!
  const name = tags[findIndexFrom(tags, start)]?.name
  return tags.some((tag) => {
    const isOutside = tag.start < start || tag.start >= end
    return isOutside && tag.name === name && !tag.begins && text.slice(tag.start, tag.end).length <= name.length + 3
  })
}
