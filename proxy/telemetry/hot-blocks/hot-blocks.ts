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
export interface HotBlocks {
  /** Notes that the blocks of a context were requested. */
  note(blocks: Context, sizes: readonly number[]): void
  /** Returns the hottest blocks, hottest first. */
  top(length: number): HotBlock[]
  /** How full the counting filter is, from 0 to 1. */
  readonly load: number
  /** Forgets all counts. */
  clear(): void
}

/** How many blocks are listed, and shared with other proxies. */
export const hotBlocksCapacity = 512
