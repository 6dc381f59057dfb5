import type { BlockId } from '../context-block.ts'
import { type Chunk, chunkContent, lineEnd } from './chunk-content.ts'
import { LabelBearer, LabelBearers } from './label-bearers.ts'

/** A block that is in a prompt in full. */
export interface ShownBlock {
  /** identity of its content alone, without label and markup */
  readonly id: BlockId
  /** content as received; stretches refer to it */
  readonly content: string
  /** how pointers refer to it, such as `[Doc_1]` */
  readonly label: string
  /** whether the label is in the prompt; otherwise it is only how pointers refer to the block */
  readonly isLabelled: boolean
}

/** A stretch of whole lines that a block shares with an earlier one. */
export interface Overlap {
  readonly start: number
  readonly end: number
  readonly target: ShownBlock
}

interface ChunkPlace {
  readonly block: ShownBlock
  readonly start: number
}

/** Budget of characters to search for pointers in one prompt; about 20 ms. */
const mostSearched = 1 << 24
/** Comparing the first words of a bearer costs as much as searching this many characters. */
const searchedForBearer = 8

/** The blocks that are in a prompt in full so far, by content and by chunks of it. */
export class ShownBlocks {
  readonly #blocks = new Map<BlockId, ShownBlock>()
  readonly #chunks = new Map<number, ChunkPlace>()
  /** chunks of the block examined last, which is likely to be added next */
  #latest: { content: string; chunks: readonly Chunk[] } = { content: '', chunks: [] }
  readonly #bearers = new LabelBearers()
  readonly #findsOverlaps: boolean
  #searchable = mostSearched

  /** `findsOverlaps`: stretches of blocks are compared, not only whole blocks. */
  constructor(findsOverlaps = true) {
    this.#findsOverlaps = findsOverlaps
  }

  /** Adds text that is not in a block. A label at the start of one of its lines may make a pointer ambiguous. */
  addText(text: string): void {
    this.#bearers.addText(text)
  }

  /**
   * Begins the next context, which consists of these blocks. Returns their label bearers. The caller must replace the
   * text of those that are not sent in full.
   */
  beginContext(blocks: readonly ShownBlock[]): LabelBearer[] {
    const bearers = blocks.map(({ id, content, label, isLabelled }) => new LabelBearer(id, label, isLabelled, content))
    for (const bearer of bearers) this.#bearers.add(bearer)
    return bearers
  }

  /** Adds a block that is sent in full. A block with the same content as an earlier one changes nothing. */
  add(block: ShownBlock): void {
    if (this.#blocks.has(block.id)) return
    this.#blocks.set(block.id, block)
    if (!this.#findsOverlaps) return
    for (const { start, hash } of this.#chunksOf(block.content)) {
      if (!this.#chunks.has(hash)) this.#chunks.set(hash, { block, start })
    }
  }

  /** Returns the block with this content; undefined if there is none. */
  find(id: BlockId): ShownBlock | undefined {
    return this.#blocks.get(id)
  }

  /**
   * Returns whether a pointer from `self` to `target` could mean something other than content equal to the target's.
   * `isMeant` says whether the pointer's words fit a bearer.
   */
  hasRival(target: ShownBlock, self: LabelBearer, isMeant: (bearer: LabelBearer) => boolean): boolean {
    const labelled = this.#bearers.of(target.label)
    // a target without a label in the prompt must not be referred to by a label used elsewhere
    if (!target.isLabelled && labelled.some((bearer) => bearer !== self)) return true
    const bearers = target.isLabelled ? labelled : this.#bearers.unlabelled
    this.#searchable -= bearers.length * searchedForBearer
    // out of budget, as in a prompt of thousands of equal blocks: send the rest in full
    if (this.#searchable < 0) return true
    return bearers.some((bearer) => bearer !== self && bearer.id !== target.id && isMeant(bearer))
  }

  /** Returns whether the label of a block is nowhere else in the prompt, except at `self`. */
  isOnlyBearer({ label, isLabelled }: ShownBlock, self: LabelBearer): boolean {
    if (!isLabelled) return false
    const bearers = this.#bearers.of(label)
    const isOnly = bearers.length === 1 || (bearers.length === 2 && bearers.includes(self))
    return isOnly && !this.#bearers.standsInside(label)
  }

  /** Returns whether the search budget allows searching a content, and charges it. */
  maySearch({ content }: { readonly content: string }): boolean {
    this.#searchable -= content.length
    return this.#searchable >= 0
  }

  /** Returns the longest stretches of whole lines that earlier blocks contain too, in order and disjoint. */
  findOverlaps(content: string): Overlap[] {
    if (this.#chunks.size === 0) return []
    const overlaps: Overlap[] = []
    let from = 0
    for (const { start, end, hash } of this.#chunksOf(content)) {
      const place = start < from ? undefined : this.#chunks.get(hash)
      if (!place?.block.content.startsWith(content.slice(start, end), place.start)) continue
      const overlap = grow(content, start, end, place, from)
      overlaps.push(overlap)
      from = overlap.end
    }
    return overlaps
  }

  #chunksOf(content: string): readonly Chunk[] {
    if (this.#latest.content !== content) this.#latest = { content, chunks: chunkContent(content) }
    return this.#latest.chunks
  }
}

/** Extends a chunk by the lines around it that both blocks share, back to `from` at most. */
function grow(content: string, start: number, end: number, place: ChunkPlace, from: number): Overlap {
  const { block } = place
  const shift = place.start - start
  let first = start
  while (first > from) {
    const before = lineStart(content, first - 1)
    const there = before + shift
    if (before < from || there < 0 || !isLine(block.content, there, content.slice(before, first))) break
    first = before
  }
  let last = end
  while (last < content.length) {
    const next = lineEnd(content, last)
    if (!isLine(block.content, last + shift, content.slice(last, next))) break
    last = next
  }
  return { start: first, end: last, target: block }
}

/** Returns whether `line` is at that position as a whole line, not as part of a longer one. */
function isLine(content: string, at: number, line: string): boolean {
  if (at > 0 && content[at - 1] !== '\n') return false
  return content.startsWith(line, at) && (line.endsWith('\n') || at + line.length === content.length)
}

function lineStart(content: string, at: number): number {
  return at === 0 ? 0 : content.lastIndexOf('\n', at - 1) + 1
}
