import { findContentStart, findIndexFrom } from './find-edges.ts'
import { FenceWalk } from './find-fences.ts'
import type { Marks } from './find-marks.ts'
import type { Tag } from './find-tags.ts'
import { containerNames, strongTags, weakTags } from './words/vocabulary.ts'

/** An element whose name is one for blocks or for containers of blocks. */
export interface KinElement {
  readonly start: number
  readonly end: number
  readonly open: Tag
  readonly close: Tag
  /** The content of a container. Undefined if the element can only be a block. */
  readonly inside: Region | undefined
}

/** A stretch of text whose lists are on one level: a turn, or the content of a container. */
export interface Region {
  readonly start: number
  readonly end: number
  readonly container: boolean
  /** The container's name is one for several retrieved texts, or for context. */
  readonly isKin: boolean
  /** Not nested, in order. */
  readonly elements: readonly KinElement[]
}

// `<retrieved_document>`, `<file_content>`, `<document_chunk>`
const OF_PART = /[_-](?:contents?|text|chunk|excerpt|result)$/
const OF_QUALITY = /^(?:retrieved|relevant|related|source|search|web|knowledge|context)[_-]/
const CONTAINER = new RegExp(`^(?:${containerNames})$`)

// elements of any kind of data; the lists inside them decide what they are
export const genericTags: ReadonlySet<string> = new Set('data content item entry node fact evidence'.split(' '))

// words that announce lists; `the document:` announces a single document, with rules inside
const ANNOUNCED =
  /^(?=#{1,6}\s|.*[:：](?:\*\*)?$).*(?<!\p{L})(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|articles|dokumente|quellen|kontext|文档|资料|上下文)(?!\p{L})/iu
const LONGEST_ANNOUNCEMENT = 120

// containers nested deeper than in any template are content
const MOST_DEPTH = 4

/** Finds each turn's elements at positions where a block may be, as a tree of containers. */
export function findElements(marks: Marks): Region[] {
  const walk = new ElementWalk(marks)
  return marks.turns.map(({ start, end }) => walk.walk(start, end, 0))
}

class ElementWalk {
  readonly #marks: Marks
  readonly #fences: FenceWalk
  #next = 0

  constructor(marks: Marks) {
    this.#marks = marks
    this.#fences = new FenceWalk(marks.fences, 0)
  }

  walk(start: number, end: number, depth: number, isKinContainer = false): Region {
    const { text, tags } = this.#marks
    const elements: KinElement[] = []
    let at = start
    // right after a container's opening tag or an element, the next element need not begin its line
    let following = depth === 0 ? -1 : findContentStart(text, start, end)
    for (let tag = tags[this.#next]; tag !== undefined && tag.start < end; tag = tags[this.#next]) {
      this.#next++
      if (tag.start < at) continue
      at = this.#fences.pass(at, tag.start, end)
      if (at > tag.start || !(tag.begins || tag.start === following || this.#isAnnounced(tag))) continue
      const element = this.#readElement(tag, end, depth)
      if (element === undefined) continue
      elements.push(element)
      at = element.end
      following = findContentStart(text, at, end)
    }
    return { start, end, container: depth > 0, isKin: isKinContainer, elements }
  }

  /** Returns whether the words before a tag in its line announce a list. */
  #isAnnounced({ start, name, closing, partner }: Tag): boolean {
    if (closing || partner === undefined || !isKin(name)) return false
    // a whole prompt may be one line of many elements
    const before = this.#marks.text.slice(Math.max(0, start - LONGEST_ANNOUNCEMENT), start)
    const line = before.slice(before.lastIndexOf('\n') + 1).trim()
    return line.length < LONGEST_ANNOUNCEMENT && ANNOUNCED.test(line)
  }

  #readElement(open: Tag, limit: number, depth: number): KinElement | undefined {
    const close = open.partner
    if (open.closing || close === undefined || close.end > limit) return undefined
    if (!isKin(open.name)) return undefined
    const container = !isBlockName(open.name) || genericTags.has(open.name)
    const inside =
      container && depth < MOST_DEPTH
        ? this.walk(open.end, close.start, depth + 1, CONTAINER.test(open.name))
        : undefined
    return { start: open.start, end: close.end, open, close, inside }
  }
}

/** Returns whether elements of this name are blocks or contain blocks. */
export function isKin(name: string): boolean {
  return isBlockName(name) || (name.length <= 64 && CONTAINER.test(name))
}

/** Returns whether the element's name alone does not show that its content is a retrieved text. */
export function isWeakTag(name: string): boolean {
  return !strongTags.has(name) && name !== 'context' && !CONTAINER.test(name)
}

function isBlockName(name: string): boolean {
  const nouns = [name, name.replace(OF_PART, ''), name.replace(OF_QUALITY, '')]
  return nouns.some((own) => strongTags.has(own) || weakTags.has(own))
}

/** Returns whether something is the first thing in its region. */
export function startsIn(text: string, region: Region, { start }: { readonly start: number }): boolean {
  return findContentStart(text, region.start, region.end) === start
}

/** Returns those of a text's ordered marks that are in a region but in none of its elements. */
export function findOwn<Item extends { readonly start: number }>(items: readonly Item[], region: Region): Item[] {
  const own: Item[] = []
  let next = 0
  for (let i = findIndexFrom(items, region.start); i < items.length && items[i]!.start < region.end; i++) {
    const item = items[i]!
    while (next < region.elements.length && region.elements[next]!.end <= item.start) next++
    const element = region.elements[next]
    if (item.start < (element?.start ?? region.end)) own.push(item)
    // skip the content of an element at once, or nested containers would be read once per level of nesting
    else if (element !== undefined) i = findIndexFrom(items, element.end) - 1
  }
  return own
}

/** Reads ordered marks of a region outside fenced code. `read` returns where the next one may begin. */
export function readOutsideFences<Item extends { readonly start: number }>(
  marks: Marks,
  region: Region,
  items: readonly Item[],
  read: (item: Item) => number,
): void {
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  let at = region.start
  for (const item of items) {
    if (item.start < at) continue
    at = fences.pass(at, item.start, region.end)
    if (at === item.start) at = read(item)
  }
}
