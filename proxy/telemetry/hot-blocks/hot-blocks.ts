import type { BlockId, Context } from '#index/context-block.ts'

/** A block that is asked for often. */
export interface HotBlock {
  readonly block: BlockId
  /** how often it was asked for */
  readonly count: number
  /** characters, about */
  readonly size: number
}

/** Counts the blocks asked for most, in bounded memory. */
export interface HotBlocks {
  /** The blocks of a context were asked for. */
  note(blocks: Context, sizes: readonly number[]): void
  /** The hottest blocks, hottest first. */
  top(length: number): HotBlock[]
  /** How full the filter is that counts them, from 0 to 1. */
  readonly load: number
  /** Starts anew. */
  clear(): void
}

/** How many blocks are listed, and told to other proxies. */
export const hotBlocksCapacity = 512
