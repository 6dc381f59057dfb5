import type { BlockId, Context } from '#index/context-block.ts'

/** A block that is asked for often. */
export interface HotBlock {
  readonly block: BlockId
  /** how often it was asked for, at least */
  readonly count: number
  /** characters, about */
  readonly size: number
}

/** Counts the blocks asked for most, in bounded memory. No count is too high. */
export interface HotBlocks {
  /** The blocks of a context were asked for. */
  note(blocks: Context, sizes: readonly number[]): void
  /** The hottest blocks, hottest first. */
  top(length: number): HotBlock[]
  /** The share of the room for counts that is taken: where all of it is, the counts of the coldest fall. */
  readonly load: number
  /** Starts anew. */
  clear(): void
}

/** How many blocks are counted for certain; the share by which counts may be too low is one of so many. */
export const hotBlocksCapacity = 4_096
