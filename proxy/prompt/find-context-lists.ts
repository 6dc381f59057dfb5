import type { ContextList } from './context-list.ts'
import { findContentStart, findIndexFrom } from './find-edges.ts'
import { findElements, type KinElement, type Region } from './find-elements.ts'
import { findLabelledLists } from './find-labelled-lists.ts'
import { findMarks, type Marks } from './find-marks.ts'
import { findTagLists } from './find-tag-lists.ts'

/** The lists of context blocks in a text, in order and not overlapping; of lists in one another, the outer one. */
export function findContextLists(text: string): ContextList[] {
  const marks = findMarks(text)
  if (marks === undefined) return []
  const found = findElements(marks).flatMap((region) => findRegionLists(marks, region))
  found.sort((left, right) => startOf(left) - startOf(right) || right.end - left.end)
  const lists: ContextList[] = []
  for (const list of found) {
    if (startOf(list) >= (lists.at(-1)?.end ?? 0)) lists.push({ ...list, end: findContainerEnd(marks, list) })
  }
  return lists
}

function startOf(list: ContextList): number {
  return list.blocks[0]!.start
}

function findRegionLists(marks: Marks, region: Region): ContextList[] {
  const blocks: KinElement[] = []
  const lists: ContextList[][] = [findLabelledLists(marks, region)]
  for (const element of region.elements) {
    const inner = element.inside === undefined ? [] : findRegionLists(marks, element.inside)
    if (inner.length > 0) lists.push(inner)
    else if (element.inside === undefined || !isEmpty(marks.text, element.inside)) blocks.push(element)
  }
  lists.push(findTagLists(marks, blocks))
  return lists.flat()
}

// `<context></context>` is how instructions name the place of a context
function isEmpty(text: string, { start, end }: Region): boolean {
  return findContentStart(text, start, end) === end
}

function findContainerEnd({ text, tags }: Marks, list: ContextList): number {
  const at = findContentStart(text, list.end, text.length)
  const tag = tags[findIndexFrom(tags, at)]
  const closes = tag?.start === at && tag.closing && tag.partner !== undefined && tag.partner.start < startOf(list)
  return closes ? tag.end : list.end
}
