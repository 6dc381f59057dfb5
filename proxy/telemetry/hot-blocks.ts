import type { BlockId, Context } from '#index/context-block.ts'

/** A block that is asked for often. */
export interface HotBlock {
  readonly block: BlockId
  /** how often it was asked for, at least */
  readonly count: number
  /** characters */
  readonly size: number
}

interface Counted {
  count: number
  size: number
}

const defaultCapacity = 4_096

/**
 * Counts the blocks asked for most, in bounded memory (Misra and Gries 1982): when too many are counted, all counts
 * fall by the same and those at zero go. No count is too high, and none too low by more than a share of 1 / capacity
 * of all that was asked for.
 */
export class HotBlocks {
  readonly #capacity: number
  readonly #counted = new Map<BlockId, Counted>()

  constructor(capacity: number = defaultCapacity) {
    this.#capacity = capacity
  }

  /** The blocks of a context were asked for. */
  note(blocks: Context, sizes: readonly number[]): void {
    blocks.forEach((block, i) => {
      const counted = this.#counted.get(block)
      if (counted) counted.count += 1
      else this.#counted.set(block, { count: 1, size: sizes[i]! })
    })
    // twice as many are let in before counts fall, so that sorting costs little per block
    if (this.#counted.size > 2 * this.#capacity) this.#shed()
  }

  /** The hottest blocks, hottest first. */
  top(length: number): HotBlock[] {
    return [...this.#counted]
      .sort(([, a], [, b]) => b.count - a.count)
      .slice(0, length)
      .map(([block, { count, size }]) => ({ block, count, size }))
  }

  /** Starts anew. */
  clear(): void {
    this.#counted.clear()
  }

  #shed(): void {
    const counts = [...this.#counted.values()].map(({ count }) => count).sort((a, b) => b - a)
    const fall = counts[this.#capacity]!
    for (const [block, counted] of this.#counted) {
      counted.count -= fall
      if (counted.count <= 0) this.#counted.delete(block)
    }
  }
}
