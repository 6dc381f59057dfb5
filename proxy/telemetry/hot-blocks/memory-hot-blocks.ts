import type { BlockId, Context } from '#index/context-block.ts'
import { HotnessFilter } from '#index/hotness/hotness-filter.ts'
import { hashText } from '#index/hotness/murmur-hash.ts'
import { type HotBlock, type HotBlocks, hotBlocksCapacity } from './hot-blocks.ts'

interface Listed {
  count: number
  readonly size: number
}

/** A count of 16 bits: a block whose count stops there is on the list, which goes on counting. */
const bits = { fingerprint: 8, clock: 4, frequency: 16, depth: 4 }
/** Seven bytes each, at most. Beyond it the coldest blocks are forgotten. */
const mostBlocks = 1 << 20

/**
 * Counts in a hotness filter how often blocks are asked for, and lists those asked for most. No count is too high, but
 * for the few in ten thousand that the filter takes for another block. Of up to a million blocks those that are not
 * listed were asked for no oftener than a share of 1 / capacity of all that was.
 */
export class MemoryHotBlocks implements HotBlocks {
  readonly #capacity: number
  readonly #filter = new HotnessFilter({ bits, maxCapacity: mostBlocks })
  readonly #listed = new Map<BlockId, Listed>()
  /** who is asked for oftener is listed */
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
    // twice as many are let in before the list is cut, so that sorting costs little per block
    if (this.#listed.size > 2 * this.#capacity) this.#cut()
  }

  #cut(): void {
    const sorted = [...this.#listed].sort(([, a], [, b]) => b.count - a.count)
    for (const [block] of sorted.slice(this.#capacity)) this.#listed.delete(block)
    this.#floor = sorted[this.#capacity - 1]![1].count
  }
}
