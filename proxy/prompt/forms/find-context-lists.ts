import { findClosingEnd } from '../borders/find-closing-line.ts'
import { findContentStart, findIndexFrom } from '../scan/find-edges.ts'
import { findElements, isKin, type KinElement, type Region } from '../scan/find-elements.ts'
import type { Label } from '../scan/find-labels.ts'
import { findMarks, type Marks } from '../scan/find-marks.ts'
import type { Tag } from '../scan/find-tags.ts'
import { type ContextList, mostBlocks } from './context-list.ts'
import { findJsonLists } from './find-json-lists.ts'
import { findLabelledLists } from './find-labelled-lists.ts'
import { findMemoryLists } from './find-memory-lists.ts'
import { findRuledLists } from './find-ruled-lists.ts'
import { findTagLists } from './find-tag-lists.ts'

/** What is known of a text besides its characters. */
export interface TextTraits {
  /** It is nothing but material, like a tool's result: no question follows, and its last block ends where it ends. */
  readonly whole?: boolean
  /** It is a prompt as a chat template renders it; elsewhere the marks of templates are words like others. */
  readonly rendered?: boolean
}

/** The lists that surely are some. */
export interface FoundLists {
  readonly lists: ContextList[]
  /** there are none, but something looks like one: it is not certain that it is, or where its blocks end */
  readonly isUnsure: boolean
}

/** The lists of context blocks in a text, in order and not overlapping; of lists in one another, the outer one. */
export function findContextLists(text: string, traits: TextTraits = {}): ContextList[] {
  return findSureLists(text, traits).lists
}

/** The same, and whether something was seen that is left alone. */
export function findSureLists(text: string, traits: TextTraits = {}): FoundLists {
  const marks = findMarks(text, traits)
  if (marks === undefined) return { lists: [], isUnsure: false }
  if (isTorn(marks.tags)) return { lists: [], isUnsure: true }
  const lists = findAll(marks)
  return { lists, isUnsure: lists.length === 0 && isCounted(marks.labels) }
}

function findAll(marks: Marks): ContextList[] {
  const found = findElements(marks).flatMap((region) => findRegionLists(marks, region))
  found.sort((left, right) => startOf(left) - startOf(right) || right.end - left.end)
  const lists: ContextList[] = []
  for (const list of found) {
    if (startOf(list) >= (lists.at(-1)?.end ?? 0)) lists.push({ ...list, end: findContainerEnd(marks, list) })
  }
  return lists.reduce((sum, { blocks }) => sum + blocks.length, 0) > mostBlocks ? [] : lists
}

/**
 * Whether a name of our kin has both pairs and tags without a partner. Then documents hold such tags themselves, and
 * where one document ends and what is an example inside another cannot be told: better no list than a document torn
 * apart. A tag that is only spoken of, inside a line, does not count, nor does one that is never closed, as in HTML.
 */
function isTorn(tags: readonly Tag[]): boolean {
  const paired = new Set<string>()
  const alone = new Set<string>()
  for (const { name, partner, closing, begins } of tags) {
    if (partner !== undefined) paired.add(name)
    else if (closing || begins) alone.add(name)
  }
  return [...alone].some((name) => paired.has(name) && isKin(name))
}

/** Whether labels of one form begin to count. */
function isCounted(labels: readonly Label[]): boolean {
  const begun = new Map<string, number>()
  return labels.some(({ form, number }) => {
    if (number === undefined) return false
    const first = begun.get(form)
    if (first === undefined && number <= 1) begun.set(form, number)
    return first !== undefined && number === first + 1
  })
}

function startOf(list: ContextList): number {
  return list.blocks[0]!.start
}

function findRegionLists(marks: Marks, region: Region): ContextList[] {
  const blocks: KinElement[] = []
  const lists: ContextList[][] = [
    findLabelledLists(marks, region),
    findJsonLists(marks, region),
    findMemoryLists(marks, region),
  ]
  if (lists.every((list) => list.length === 0)) lists.push(findRuledLists(marks, region))
  for (const element of region.elements) {
    const inner = element.inside === undefined ? [] : findRegionLists(marks, element.inside)
    if (inner.length > 0) lists.push(inner)
    else if (element.inside === undefined || !isEmpty(marks.text, element.inside)) blocks.push(element)
  }
  lists.push(findTagLists(marks, blocks, region.container))
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
  return closes ? tag.end : (findClosingEnd(text, startOf(list), at) ?? list.end)
}
