/** What an engine calls a block: a number of 64 bits, unsigned here, or all bytes of its hash in hexadecimal. */
export type BlockHash = bigint | string

/** Blocks were written into a tier of the cache. */
export interface BlocksStored {
  readonly type: 'stored'
  /** one after the other in a prompt */
  readonly hashes: readonly BlockHash[]
  /** the block in front of the first; undefined: it begins a prompt */
  readonly parent: BlockHash | undefined
  /** of all blocks together; empty where the engine does not say */
  readonly tokens: readonly number[]
  /** tokens in a block; 0 where the engine does not say */
  readonly blockSize: number
  readonly tier: string
  /** by block: what tells it apart from others of equal tokens (salt, adapter, images), as JSON; undefined: nothing */
  readonly extras: readonly (string | undefined)[]
  /** of several caches in one engine (hybrid models): which */
  readonly group: number
  /** the attention that this group serves, where the engine says so */
  readonly attention: string | undefined
}

/** Blocks are gone from a tier: one copy of each. */
export interface BlocksRemoved {
  readonly type: 'removed'
  readonly hashes: readonly BlockHash[]
  readonly tier: string
  readonly group: number
}

/** Nothing is cached any more. */
export interface BlocksCleared {
  readonly type: 'cleared'
}

/** One event of an engine's cache. */
export type KvEvent = BlocksStored | BlocksRemoved | BlocksCleared

/** What an engine publishes at a time. */
export interface KvEventBatch {
  /** seconds, by the engine's clock */
  readonly time: number
  readonly events: readonly KvEvent[]
  /** events that were not understood, and left out */
  readonly unknown: number
}

/** The tier that an engine computes from; it is what an event without a tier speaks of. */
export const deviceTier = 'GPU'
