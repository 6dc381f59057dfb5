import { findContentStart, findIndexFrom } from './find-edges.ts'
import { FenceWalk } from './find-fences.ts'
import { announcesBlocks } from './find-list-heading.ts'
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

// `<file_content>`, `<document_chunk>`
const COMPOUND = /^(.+)[_-](?:contents?|text|chunk|excerpt|result)$/
// `<library-document>`
const OF_KIND = /^[a-z]{2,20}[_-](?:document|passage|chunk|excerpt|snippet)$/
// `<retrieved_document>`
const PREFIXED = /^(?:retrieved|relevant|related|source|search|web|knowledge|context)[_-](.+)$/
const CONTAINER = new RegExp(`^(?:${containerNames})$`)

// elements of any kind of data; the lists inside them decide what they are
export const genericTags: ReadonlySet<string> = new Set([
  'data',
  'content',
  'item',
  'entry',
  'node',
  'fact',
  'evidence',
])

const ENDS_WORDS = /[.:!?。：！？][ \t]{1,4}$/
const FURTHEST_WORDS = 120

const RETRIEVED =
  /(?<!\p{L})(?:retriev(?:ed|ing)|relevant|search(?: results?)?|similar|matching|gefunden\p{L}*|relevante\p{L}*|pertinents?|recuperad\p{L}*|relevantes)(?!\p{L})|检索|搜索|相关|検索|関連|검색/iu
const FURTHEST_RETRIEVED = 600

// an element has this many tags of fields, at most, before the container in it
const MOST_FIELDS = 12

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
      if (at > tag.start || !(tag.begins || tag.start === following || this.#opensRow(tag, end))) continue
      const isFirst = elements.at(-1)?.open.name !== tag.name
      const isAround = isKinContainer && isFirst && this.#isAroundRow(tag, end)
      const element = this.#readElement(tag, end, depth, isAround)
      if (element === undefined) continue
      elements.push(element)
      at = element.end
      following = findContentStart(text, at, end)
    }
    return { start, end, container: depth > 0, isKin: isKinContainer, elements }
  }

  /**
   * Returns whether a tag in the middle of its line begins a list: the words before it announce it, a sibling begins
   * the next line, or it is a container right behind another tag and begins with a block.
   */
  #opensRow({ start, end, name, closing, partner }: Tag, limit: number): boolean {
    const { text, tags } = this.#marks
    if (closing || partner === undefined || !isKin(name)) return false
    const before = text.slice(Math.max(start - FURTHEST_WORDS, 0), start)
    if (before.endsWith('>') && CONTAINER.test(name)) return this.#holdsRow(end, partner.start)
    if (!ENDS_WORDS.test(before)) return false
    const line = before.lastIndexOf('\n') + 1
    if ((line > 0 || start <= FURTHEST_WORDS) && announcesBlocks(before, line, before.length)) return true
    const next = findContentStart(text, partner.end, limit)
    const sibling = tags[findIndexFrom(tags, next)]
    return sibling?.start === next && sibling.begins && !sibling.closing && sibling.name === name
  }

  /** Returns whether the first thing in a range is an element for a block. */
  #holdsRow(from: number, to: number): boolean {
    const { text, tags } = this.#marks
    const start = findContentStart(text, from, to)
    const first = tags[findIndexFrom(tags, start)]
    return first?.start === start && isBlockName(first.name)
  }

  /**
   * Returns whether an element for a block has no sibling and holds a container that begins with a block, as in
   * `<file> <filename>a.pdf</filename> <context> <chunk>…`. The pieces of its text are then the blocks, if the words
   * before it say that they were searched for; otherwise they may be a whole text in its order.
   */
  #isAroundRow({ closing, partner, name, start }: Tag, limit: number): boolean {
    if (closing || partner === undefined || partner.end > limit || !isBlockName(name)) return false
    const { text, tags } = this.#marks
    if (!RETRIEVED.test(text.slice(Math.max(start - FURTHEST_RETRIEVED, 0), start))) return false
    const next = findContentStart(text, partner.end, limit)
    const sibling = tags[findIndexFrom(tags, next)]
    if (sibling?.start === next && sibling.name === name) return false
    for (let i = this.#next; i < this.#next + MOST_FIELDS && i < tags.length && tags[i]!.end <= partner.start; i++) {
      const tag = tags[i]!
      if (tag.closing || tag.partner === undefined || !CONTAINER.test(tag.name)) continue
      return tag.partner.end <= partner.start && this.#holdsRow(tag.end, tag.partner.start)
    }
    return false
  }

  #readElement(open: Tag, limit: number, depth: number, isAround: boolean): KinElement | undefined {
    const close = open.partner
    if (open.closing || close === undefined || close.end > limit) return undefined
    if (!isKin(open.name)) return undefined
    const container = isAround || !isBlockName(open.name) || genericTags.has(open.name)
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
  if (strongTags.has(name) || weakTags.has(name)) return true
  const noun = COMPOUND.exec(name)?.[1] ?? PREFIXED.exec(name)?.[1]
  return (noun !== undefined && (strongTags.has(noun) || weakTags.has(noun))) || OF_KIND.test(name)
}
