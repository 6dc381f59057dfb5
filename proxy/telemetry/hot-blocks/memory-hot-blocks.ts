import type { BlockId, Context } from '#index/context-block.ts'
import { HotnessFilter } from '#index/hotness/hotness-filter.ts'
import { hashText } from '#index/hotness/murmur-hash.ts'
import { type HotBlock, type HotBlocks, hotBlocksCapacity } from './hot-blocks.ts'

interface Listed {
  count: number
  readonly size: number
}

/** Counts of 16 bits. A block whose count saturates is on the list, which continues counting. */
const bits = { fingerprint: 8, clock: 4, frequency: 16, depth: 4 }
/** At most seven bytes each. Beyond this number the coldest blocks are forgotten. */
const mostBlocks = 1 << 20

/**
 * Counts in a hotness filter how often blocks are requested, and lists the most requested ones. No count is too high,
 * except for the few in ten thousand blocks that the filter mistakes for others. Of up to a million blocks, an unlisted
 * one has at most 1 / capacity of all requests.
 */
export class MemoryHotBlocks implements HotBlocks {
  readonly #capacity: number
  readonly #filter = new HotnessFilter({ bits, maxCapacity: mostBlocks })
  readonly #listed = new Map<BlockId, Listed>()
  /** blocks requested more often than this are listed */
  #floor = 0

  constructor(capacity: number = hotBlocksCapacity) {
    this.#capacity = capacity
  }

  get load(): number {
    return this.#filter.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    blocks.forEach((block, i) => {
      this.#note(block, sizes[i]!)
    })
    this.#filter.passRequest()
  }

  top(length: number): HotBlock[] {
    const listed = [...this.#listed].sort(([, a], [, b]) => b.count - a.count)
    return listed.slice(0, Math.min(length, this.#capacity)).map(([block, { count, size }]) => ({ block, count, size }))
  }

  clear(): void {
    this.#filter.clear()
    this.#listed.clear()
    this.#floor = 0
  }

  #note(block: BlockId, size: number): void {
    const hash = hashText(block)
    this.#filter.note(hash)
    const listed = this.#listed.get(block)
    if (listed) {
      listed.count += 1
      return
    }
    const count = this.#filter.frequencyOf(hash)
    if (count <= this.#floor) return
    this.#listed.set(block, { count, size })
    // the list grows to twice the capacity before it is cut, so that sorting costs little per block
    if (this.#listed.size > 2 * this.#capacity) this.#cut()
  }

  #cut(): void {
    const sorted = [...this.#listed].sort(([, a], [, b]) => b.count - a.count)
    for (const [block] of sorted.slice(this.#capacity)) this.#listed.delete(block)
    this.#floor = sorted[this.#capacity - 1]![1].count
  }
}
