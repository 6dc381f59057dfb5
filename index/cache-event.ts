import type { Context, RequestId, ScopeId } from './context-block.ts'

/** One context of a prompt as sent. */
export interface SentContext {
  readonly scope: ScopeId
  readonly blocks: Context
  /** the length of each block, in characters */
  readonly sizes: readonly number[]
  /** where each block ends in the prompt, in characters from its start */
  readonly ends: readonly number[]
}

/**
 * A prompt as sent to the engine. Sizes are in characters (UTF-16 units) because we do not know the engine's tokens.
 */
export interface SentPrompt {
  readonly contexts: readonly SentContext[]
  /** identities of the prompt's prefixes, cut wherever a block begins or ends, shortest first */
  readonly prefixes: readonly ScopeId[]
  /** end of each of these prefixes, in characters */
  readonly ends: readonly number[]
  readonly length: number
}

/** A prompt as a mirror keeps it. */
export interface MirroredPrompt extends Pick<SentPrompt, 'contexts' | 'ends' | 'length'> {
  /** symbols of its prefixes (prefix-symbol.ts) */
  readonly symbols: readonly number[]
}

/** What changes our belief about one replica's cache. */
export type CacheEvent =
  | { readonly type: 'sent'; readonly request: RequestId; readonly prompt: SentPrompt }
  /** the engine refused the request or was never reached, so nothing was cached */
  | { readonly type: 'failed'; readonly request: RequestId }
  | { readonly type: 'used'; readonly request: RequestId; readonly promptTokens: number }
  /** `cachedTokens`: length of the request's longest prefix that is still cached, in whole pages of `pageTokens` */
  | {
      readonly type: 'stored' | 'evicted'
      readonly request: RequestId
      readonly cachedTokens: number
      readonly pageTokens?: number | undefined
    }
  /** `forgetsDemand`: also forget the demand history, as after a restart */
  | { readonly type: 'cleared'; readonly forgetsDemand?: true }
  /** another proxy's belief about a request; one that is not mirrored here is ignored if `prompt` is missing */
  | {
      readonly type: 'shared'
      readonly request: RequestId
      readonly prompt?: MirroredPrompt | undefined
      /** undefined: as before; likewise for the tokens */
      readonly heldLength: number | undefined
      readonly tokensPerCharacter: number | undefined
    }
