import type { BlockHash, BlocksStored } from './kv-event.ts'

/** Our name for a block: equal for a prompt's block and a reported block exactly if they are the same block. */
export type BlockName = bigint | string

/** Matches the blocks that an engine reports with those of the prompts it was sent. */
export interface BlockNaming {
  /** The names of consecutive stored blocks; undefined for a block that cannot be named. */
  nameStored(event: BlocksStored): (BlockName | undefined)[]
  /** The name of a stored block; undefined if it is not known. */
  nameOf(hash: BlockHash): BlockName | undefined
  /** Forgets a block that is no longer held anywhere: its hash is not looked up again until it is stored. */
  forget(hash: BlockHash): void
  forgetAll(): void
  /** The names of a prompt's full blocks. */
  namesOfPrompt(tokens: ArrayLike<number>, blockSize: number, salt: string | undefined): BlockName[]
}
