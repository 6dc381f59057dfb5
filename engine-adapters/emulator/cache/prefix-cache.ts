import type { ReuseWish } from '../../any-position-reuse.ts'
import type { CachedRequest, CacheReport } from './request-ledger.ts'

/** One request as a cache sees it. */
export interface CacheRequest {
  requestId: string
  /** Requests with different salts share nothing. */
  salt: string
  /** The prompt and behind it the output it will have, for which space is kept. */
  tokens: Uint32Array
  promptTokens: number
  /** What it wishes of an engine that reuses KV at any position: `off`, or the share to compute again. */
  reuse?: ReuseWish | undefined
}

/** Prompt tokens whose KV was computed at another position. */
export interface ReusedTokens {
  /** Taken as they were. */
  readonly kept: number
  /** Found, and computed again. */
  readonly recomputed: number
}

/** A request's hold on the cache, from the scheduler's admission to its end. */
export interface CacheSequence {
  /** Prompt tokens found in the cache by `acquire`; always fewer than the prompt's, whose last token is computed. */
  readonly cachedTokens: number
  /** What was reused behind them; undefined where the engine does no such thing. */
  readonly reused?: ReusedTokens | undefined
  /** Takes the space the request needs, evicting what nobody uses; false, without effect, when others hold too much. */
  acquire(): boolean
  /** The first `tokens` tokens are computed: their full pages can be reused from now on. */
  computed(tokens: number): void
  /** Ends the request after `tokens` computed tokens (0: nothing more than was said before). */
  release(tokens: number): void
}

/** An engine's prefix cache: bounded, evicting the least recently used prefixes from their tails. */
export interface PrefixCache {
  /** Whole pages, in tokens; may be Infinity. */
  readonly capacityTokens: number
  /** Space taken by running requests and by what is cached. */
  readonly usedTokens: number
  open(request: CacheRequest): CacheSequence
  /** Length of the longest cached prefix; touches nothing. */
  match(tokens: Uint32Array, salt: string): number
  /** Forgets everything; false, without effect, while a request runs. */
  clear(): boolean
  /** What changed since the last call. */
  takeReports(): CacheReport[]
  /** Every request that still has a cached prefix. */
  requests(): CachedRequest[]
}
