import type { BlockHash, BlocksStored } from './kv-event.ts'

/** What a block is called here: equal for the blocks of a prompt and those that the engine reports, and only for those. */
export type BlockName = bigint | string

/** How the blocks that an engine reports meet those of the prompts it was sent. */
export interface BlockNaming {
  /** The names of blocks that were stored, one after the other; undefined where a block cannot be named. */
  nameStored(event: BlocksStored): (BlockName | undefined)[]
  /** The name of a block that was stored; undefined when it is not known. */
  nameOf(hash: BlockHash): BlockName | undefined
  /** A block is held nowhere any more: its hash will not be asked for again until it is stored. */
  forget(hash: BlockHash): void
  forgetAll(): void
  /** The names of a prompt's full blocks. */
  namesOfPrompt(tokens: ArrayLike<number>, blockSize: number, salt: string | undefined): BlockName[]
}
