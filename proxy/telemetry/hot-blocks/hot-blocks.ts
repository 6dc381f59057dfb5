import type { BlockId, Context } from '#index/context-block.ts'

/** A frequently requested block. */
export interface HotBlock {
  readonly block: BlockId
  /** how often it was requested */
  readonly count: number
  /** approximate number of characters */
  readonly size: number
}

/** Counts the most requested blocks in bounded memory. */
export type HotBlocks = Pick<MemoryHotBlocks, 'note' | 'top' | 'load' | 'clear'>

/** How many blocks are listed, and shared with other proxies. */
export const hotBlocksCapacity = 512

interface Counted {
  /** since it was listed */
  count: number
  readonly size: number
  /** how often it may have been requested before */
  readonly missed: number
}

/**
 * Counts the most requested blocks in a list of bounded length (the Space-Saving algorithm, cut in batches). No count is
 * too high, or too low by more than 1 / capacity of all requests for blocks.
 */
export class MemoryHotBlocks {
  readonly #capacity: number
  readonly #counted = new Map<BlockId, Counted>()
  /** a block that is not listed was requested at most this often */
  #floor = 0

  constructor(capacity: number = hotBlocksCapacity) {
    this.#capacity = capacity
  }

  /** How full the counting filter is, from 0 to 1. */
  get load(): number {
    return this.#counted.size / (2 * this.#capacity)
  }

  note(blocks: Context, sizes: readonly number[]): void {
    for (const [i, block] of blocks.entries()) this.add({ block, count: 1, size: sizes[i]! })
  }

  add({ block, count, size }: HotBlock): void {
    const known = this.#counted.get(block)
    if (known) known.count += count
    else {
      this.#counted.set(block, { count, size, missed: this.#floor })
      // grows to twice the capacity before it is cut, so that sorting costs little per block
      if (this.#counted.size > 2 * this.#capacity) this.#cut()
    }
  }

  /** Returns the hottest blocks, hottest first. */
  top(length: number): HotBlock[] {
    return [...this.#counted]
      .map(([block, { count, size }]) => ({ block, count, size }))
      .sort((a, b) => b.count - a.count)
      .slice(0, length)
  }

  /** Forgets all counts. */
  clear(): void {
    this.#counted.clear()
    this.#floor = 0
  }

  #cut(): void {
    const most = ({ count, missed }: Counted): number => count + missed
    const sorted = [...this.#counted].sort(([, a], [, b]) => most(b) - most(a))
    this.#floor = most(sorted[this.#capacity]![1])
    for (const [block] of sorted.slice(this.#capacity)) this.#counted.delete(block)
  }
}
