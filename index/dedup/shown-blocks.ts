import type { BlockId } from '../context-block.ts'
import { type Chunk, chunkContent, lineEnd } from './chunk-content.ts'
import { LabelBearer, LabelBearers } from './label-bearers.ts'

/** A block that stands in a prompt in full. */
export interface ShownBlock {
  readonly id: BlockId
  readonly content: string
  readonly label: string
  /** whether the label stands in the prompt; else it is only how the block is spoken of */
  readonly isLabelled: boolean
}

/** A stretch of whole lines that a block has in common with one that stands earlier. */
export interface Overlap {
  readonly start: number
  readonly end: number
  readonly target: ShownBlock
}

interface ChunkPlace {
  readonly block: ShownBlock
  readonly start: number
}

/** How many characters are searched for the sake of pointers; about 20 ms. */
const mostSearched = 1 << 24
/** Comparing the first words of a bearer takes as long as searching so many characters. */
const searchedForBearer = 8

/** What stands in one prompt so far: its blocks in full, by their content and by chunks of it. */
export class ShownBlocks {
  readonly #blocks = new Map<BlockId, ShownBlock>()
  readonly #chunks = new Map<number, ChunkPlace>()
  /** of the block that was looked at last: it is likely to be added next */
  #latest: { content: string; chunks: readonly Chunk[] } = { content: '', chunks: [] }
  readonly #bearers = new LabelBearers()
  #searchable = mostSearched

  /** Takes in what stands between blocks, and what others say: a label at the beginning of a line may be meant too. */
  addText(text: string): void {
    this.#bearers.addText(text)
  }

  /**
   * From now on blocks belong to the next context, which consists of these. Returns what stands in their places, which
   * is to be changed for those that are not sent in full.
   */
  beginContext(blocks: readonly ShownBlock[]): LabelBearer[] {
    const bearers = blocks.map(({ id, content, label, isLabelled }) => new LabelBearer(id, label, isLabelled, content))
    for (const bearer of bearers) this.#bearers.add(bearer)
    return bearers
  }

  /** Notes a block of the current context that is sent in full; one with the same content as before changes nothing. */
  add({ id, content, label, isLabelled }: ShownBlock): void {
    if (this.#blocks.has(id)) return
    const block = { id, content, label, isLabelled }
    this.#blocks.set(id, block)
    for (const { start, hash } of this.#chunksOf(content)) {
      if (!this.#chunks.has(hash)) this.#chunks.set(hash, { block, start })
    }
  }

  /** The block with this content. */
  find(id: BlockId): ShownBlock | undefined {
    return this.#blocks.get(id)
  }

  /**
   * Whether a pointer from `self` to `target` that says no more than `isMeant` tells could mean anything but the target
   * and what has the same content.
   */
  hasRival(target: ShownBlock, self: LabelBearer, isMeant: (bearer: LabelBearer) => boolean): boolean {
    const labelled = this.#bearers.of(target.label)
    // what is only spoken of by a label must not be called by one that stands elsewhere
    if (!target.isLabelled && labelled.some((bearer) => bearer !== self)) return true
    const bearers = target.isLabelled ? labelled : this.#bearers.unlabelled
    this.#searchable -= bearers.length * searchedForBearer
    // in a prompt of thousands of equal blocks the rest stay as they are
    if (this.#searchable < 0) return true
    return bearers.some((bearer) => bearer !== self && bearer.id !== target.id && isMeant(bearer))
  }

  /** Whether the label of a block stands nowhere else in the prompt, but for `self`. */
  isOnlyBearer({ label, isLabelled }: ShownBlock, self: LabelBearer): boolean {
    if (!isLabelled) return false
    const bearers = this.#bearers.of(label)
    const isOnly = bearers.length === 1 || (bearers.length === 2 && bearers.includes(self))
    return isOnly && !this.#bearers.standsInside(label)
  }

  /** Whether a content may be searched once more: in a prompt of absurdly many pointers the rest are left out. */
  maySearch({ content }: { readonly content: string }): boolean {
    this.#searchable -= content.length
    return this.#searchable >= 0
  }

  /** The longest stretches of whole lines that earlier blocks hold too, in order and disjoint. */
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

/** Takes in the lines around a chunk, as far as both blocks have them, back to `from` at most. */
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

/** Whether this is a whole line there, not the end or the beginning of a longer one. */
function isLine(content: string, at: number, line: string): boolean {
  if (at > 0 && content[at - 1] !== '\n') return false
  return content.startsWith(line, at) && (line.endsWith('\n') || at + line.length === content.length)
}

function lineStart(content: string, at: number): number {
  return at === 0 ? 0 : content.lastIndexOf('\n', at - 1) + 1
}
