import { type Chunk, chunkContent, lineEnd } from './chunk-content.ts'
import type { BlockId } from './context-block.ts'

/** A block that stands in a prompt in full. */
export interface ShownBlock {
  readonly id: BlockId
  readonly content: string
  readonly label: string
  /** which of the prompt's contexts holds it, counted from 1 */
  readonly context: number
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

/** What stands in one prompt so far: its blocks in full, by their content and by chunks of it. */
export class ShownBlocks {
  readonly #blocks = new Map<BlockId, ShownBlock>()
  readonly #chunks = new Map<number, ChunkPlace>()
  /** of the block that was looked at last: it is likely to be added next */
  #latest: { content: string; chunks: readonly Chunk[] } = { content: '', chunks: [] }
  /** in how many contexts each label occurs, whatever stands behind it */
  readonly #bearers = new Map<string, number>()
  #contexts = 0
  #currentLabels: ReadonlySet<string> = new Set()

  /** From now on blocks belong to the next context, which bears these labels. */
  beginContext(labels: readonly string[]): void {
    this.#contexts += 1
    this.#currentLabels = new Set(labels)
    for (const label of this.#currentLabels) this.#bearers.set(label, (this.#bearers.get(label) ?? 0) + 1)
  }

  /** Notes a block of the current context that is sent in full; one with the same content as before changes nothing. */
  add({ id, content, label }: Omit<ShownBlock, 'context'>): void {
    if (this.#blocks.has(id)) return
    const block = { id, content, label, context: this.#contexts }
    this.#blocks.set(id, block)
    for (const { start, hash } of this.#chunksOf(content)) {
      if (!this.#chunks.has(hash)) this.#chunks.set(hash, { block, start })
    }
  }

  /** The block with this content. */
  find(id: BlockId): ShownBlock | undefined {
    return this.#blocks.get(id)
  }

  /** Whether "its label in the previous conversation" may be taken for another block's. */
  isAmbiguous({ label, context }: ShownBlock): boolean {
    const bearers = this.#bearers.get(label) ?? 0
    // the context that is being written is not yet part of the previous conversation
    const own = context < this.#contexts && this.#currentLabels.has(label) ? 1 : 0
    return bearers - own > 1
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
