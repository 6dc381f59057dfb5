import type { BlockId, Context } from '#index/context-block.ts'
import { type HotBlock, type HotBlocks, hotBlocksCapacity } from './hot-blocks.ts'

interface Counted {
  count: number
  size: number
}

/**
 * Counts the blocks asked for most (Misra and Gries 1982): when too many are counted, all counts fall by the same and
 * those at zero go. No count is too high, and none too low by more than a share of 1 / capacity of all that was asked
 * for; the same holds of what several of them have counted, once it is added up in one (Agarwal et al. 2012).
 */
export class MemoryHotBlocks implements HotBlocks {
  readonly #capacity: number
  readonly #counted = new Map<BlockId, Counted>()

  constructor(capacity: number = hotBlocksCapacity) {
    this.#capacity = capacity
  }

  /** Blocks that are counted: twice the capacity at most. */
  get size(): number {
    return this.#counted.size
  }

  get load(): number {
    return this.size / (2 * this.#capacity)
  }

  note(blocks: Context, sizes: readonly number[]): void {
    blocks.forEach((block, i) => {
      this.#count(block, 1, sizes[i]!)
    })
    this.#shed()
  }

  /** What was counted elsewhere counts here, too. */
  add(counted: Iterable<HotBlock>): void {
    for (const { block, count, size } of counted) {
      this.#count(block, count, size)
      this.#shed()
    }
  }

  /** How often a block was asked for, at least. */
  countOf(block: BlockId): number {
    return this.#counted.get(block)?.count ?? 0
  }

  top(length: number): HotBlock[] {
    return [...this].sort((a, b) => b.count - a.count).slice(0, length)
  }

  clear(): void {
    this.#counted.clear()
  }

  *[Symbol.iterator](): IterableIterator<HotBlock> {
    for (const [block, { count, size }] of this.#counted) yield { block, count, size }
  }

  #count(block: BlockId, count: number, size: number): void {
    const counted = this.#counted.get(block)
    if (counted) counted.count += count
    else this.#counted.set(block, { count, size })
  }

  #shed(): void {
    // twice as many are let in before counts fall, so that sorting costs little per block
    if (this.#counted.size <= 2 * this.#capacity) return
    const counts = [...this.#counted.values()].map(({ count }) => count).sort((a, b) => b - a)
    const fall = counts[this.#capacity]!
    for (const [block, counted] of this.#counted) {
      counted.count -= fall
      if (counted.count <= 0) this.#counted.delete(block)
    }
  }
}
