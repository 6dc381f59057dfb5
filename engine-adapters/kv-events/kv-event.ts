/** An engine's name for a block: a 64-bit number, unsigned here, or its whole hash in hexadecimal. */
export type BlockHash = bigint | string

/** Blocks were written into a tier of the cache. */
export interface BlocksStored {
  readonly type: 'stored'
  /** consecutive in a prompt */
  readonly hashes: readonly BlockHash[]
  /** the block before the first; undefined: the first begins a prompt */
  readonly parent: BlockHash | undefined
  /** of all blocks together; empty if the engine does not report them */
  readonly tokens: readonly number[]
  /** tokens in a block; 0 if the engine does not report it */
  readonly blockSize: number
  readonly tier: string
  /** per block: what distinguishes it among equal tokens (salt, adapter, images), as JSON; undefined: nothing */
  readonly extras: readonly (string | undefined)[]
  /** which of several caches in one engine (hybrid models) */
  readonly group: number
  /** the attention that this group serves, if the engine reports it */
  readonly attention: string | undefined
}

/** One copy of each block was removed from a tier. */
export interface BlocksRemoved extends Pick<BlocksStored, 'hashes' | 'tier' | 'group'> {
  readonly type: 'removed'
}

/** One event of an engine's cache. */
export type KvEvent = BlocksStored | BlocksRemoved | { readonly type: 'cleared' }

/** The events that an engine publishes in one message. */
export interface KvEventBatch {
  /** seconds, by the engine's clock */
  readonly time: number
  readonly events: readonly KvEvent[]
  /** events that were not understood and were skipped */
  readonly unknown: number
}

/** The tier that an engine computes from; an event without a tier refers to it. */
export const deviceTier = 'GPU'
