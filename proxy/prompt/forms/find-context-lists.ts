import { findClosingEnd } from '../borders/list-closings.ts'
import { type ContextList, mostBlocks, startOf } from '../context-list.ts'
import { judgeList } from '../judge/judge-list.ts'
import type { Reason, Refusal } from '../judge/reasons.ts'
import { findContentStart, findIndexFrom } from '../scan/find-edges.ts'
import { findElements, genericTags, isKin, type KinElement, type Region } from '../scan/find-elements.ts'
import { type Marks, readMarks, type TextTraits } from '../scan/find-marks.ts'
import type { Tag } from '../scan/find-tags.ts'
import type { Label } from '../scan/labels/label.ts'
import { findJsonLists } from './enclosed/find-json-lists.ts'
import { findBoldLists, findQuotedLists } from './enclosed/find-quoted-lists.ts'
import { findTagLists } from './enclosed/find-tag-lists.ts'
import { findCreditedLists } from './headed/find-credited-lists.ts'
import { findLabelledLists } from './headed/find-labelled-lists.ts'
import { findMemoryLists } from './lines/find-memory-lists.ts'

/** The lists found in a text, and list-like text that is left alone. */
export interface FoundLists {
  readonly lists: ContextList[]
  readonly refusals: Refusal[]
}

/**
 * Finds the lists of context blocks in a text, in order and not overlapping, and what is left alone and why. Of nested
 * lists, returns the outer one. Yields every few thousand lines.
 */
export function* searchLists(text: string, traits: TextTraits): Generator<void, FoundLists> {
  const marks = yield* readMarks(text, traits)
  if (marks === undefined) return refuse('too_many', text)
  const unbalanced = findUnbalanced(marks.tags)
  const torn = [...unbalanced.values()].find(({ name }) => isKin(name) && !genericTags.has(name))
  if (torn !== undefined) return refuse('torn_tags', text, torn.start)
  const search = new ListSearch(marks, new Set(unbalanced.keys()))
  const lists = search.findAll()
  const { refusals } = search
  const counted = lists.length === 0 && refusals.length === 0 ? findCounted(marks.labels) : undefined
  if (counted !== undefined) refusals.push({ refused: 'open_end', at: { start: counted.start, end: text.length } })
  return { lists, refusals }
}

function refuse(refused: Reason, text: string, start = 0): FoundLists {
  return { lists: [], refusals: [{ refused, at: { start, end: text.length } }] }
}

/**
 * Returns the first tag without a partner of each name that also occurs in pairs: documents contain such tags
 * themselves, and the end of a document looks like an example inside another. It is better to find no list than to
 * tear a document apart; of tags for any kind of data, only the lists they form are left alone. Tags merely mentioned
 * within a line do not count, nor do tags that are never closed, as in HTML.
 */
function findUnbalanced(tags: readonly Tag[]): ReadonlyMap<string, Tag> {
  const paired = new Set<string>()
  const alone = new Map<string, Tag>()
  for (const tag of tags) {
    const { name, partner, closing, begins } = tag
    if (partner !== undefined) paired.add(name)
    else if ((closing || begins) && !alone.has(name)) alone.set(name, tag)
  }
  return new Map([...alone].filter(([name]) => paired.has(name)))
}

/** Returns the first label that continues the count of its form. */
function findCounted(labels: readonly Label[]): Label | undefined {
  const begun = new Map<string, number>()
  return labels.find(({ form, number }) => {
    if (number === undefined) return false
    const first = begun.get(form)
    if (first === undefined && number <= 1) begun.set(form, number)
    return first !== undefined && number === first + 1
  })
}

/** More blocks than any prompt holds, counting those in nested lists too. */
const mostTaken = 4 * mostBlocks

/** Searches the regions of one text and judges what it finds. */
class ListSearch {
  readonly refusals: Refusal[] = []
  readonly #marks: Marks
  readonly #unbalanced: ReadonlySet<string>
  /** Number of blocks in the lists taken so far, nested ones included. */
  #taken = 0

  /** `unbalanced`: names of tags that also occur without a partner. */
  constructor(marks: Marks, unbalanced: ReadonlySet<string>) {
    this.#marks = marks
    this.#unbalanced = unbalanced
  }

  findAll(): ContextList[] {
    const marks = this.#marks
    const found = findElements(marks).flatMap((region) => this.#findIn(region))
    found.sort((left, right) => startOf(left) - startOf(right) || right.end - left.end)
    const lists: ContextList[] = []
    for (const list of found) {
      if (startOf(list) >= (lists.at(-1)?.end ?? 0)) lists.push({ ...list, end: findContainerEnd(marks, list) })
    }
    const isFew = lists.reduce((sum, { blocks }) => sum + blocks.length, 0) <= mostBlocks
    if (isFew && this.#taken <= mostTaken) return lists
    this.refusals.push({ refused: 'too_many', at: { start: 0, end: marks.text.length } })
    return []
  }

  #findIn(region: Region): ContextList[] {
    const marks = this.#marks
    const json = findJsonLists(marks, region)
    this.refusals.push(...json.refusals)
    const blocks: KinElement[] = []
    const inside = region.elements.flatMap((element) => {
      const { inside } = element
      const inner = inside === undefined ? [] : this.#findIn(inside)
      // instructions use `<context></context>` to name the place of a context
      const isEmpty = inside !== undefined && findContentStart(marks.text, inside.start, inside.end) === inside.end
      if (inner.length === 0 && !isEmpty) blocks.push(element)
      return inner
    })
    if (blocks.length > mostBlocks)
      this.refusals.push({ refused: 'too_many', at: { start: region.start, end: region.end } })
    const lists = [
      ...findLabelledLists(marks, region),
      ...json.lists,
      ...findMemoryLists(marks, region),
      ...findCreditedLists(marks, region),
      ...findQuotedLists(marks, region),
      ...findBoldLists(marks, region),
      ...findTagLists(marks, blocks, region, this.#unbalanced),
    ]
    return [...lists.filter((list) => this.#isTaken(list)), ...inside]
  }

  #isTaken(list: ContextList): boolean {
    // there are too many already, and judging takes time
    if (this.#taken > mostTaken) return false
    const refused = judgeList(this.#marks, list)
    if (refused === undefined) this.#taken += list.blocks.length
    else this.refusals.push({ refused, at: { start: startOf(list), end: list.end } })
    return refused === undefined
  }
}

function findContainerEnd({ text, tags }: Marks, list: ContextList): number {
  const at = findContentStart(text, list.end, text.length)
  const tag = tags[findIndexFrom(tags, at)]
  const closes = tag?.start === at && tag.closing && tag.partner !== undefined && tag.partner.start < startOf(list)
  return closes ? tag.end : (findClosingEnd(text, startOf(list), at) ?? list.end)
}
