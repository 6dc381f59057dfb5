import type { CachedRequest, CacheReport } from './request-ledger.ts'

export interface CacheRequest {
  requestId: string
  /** Requests with different salts share nothing. */
  salt: string
  /** The prompt followed by its future output, for which space is reserved. */
  tokens: Uint32Array
  promptTokens: number
  /** What the request states for an engine that reuses KV at any position, unread. */
  wish?: unknown
}

/** Prompt tokens whose KV was computed at another position. */
export interface ReusedTokens {
  /** Reused unchanged. */
  readonly kept: number
  /** Found, but recomputed. */
  readonly recomputed: number
}

/** A request's hold on the cache, from its admission by the scheduler to its end. */
export interface CacheSequence {
  /** Prompt tokens found in the cache by `acquire`; never all of them, because the last one is always computed. */
  readonly cachedTokens: number
  /** What was reused after them; undefined if the engine does not reuse at any position. */
  readonly reused?: ReusedTokens | undefined
  /** Takes the needed space, evicting unused prefixes. Returns false, without effect, if others hold too much. */
  acquire(): boolean
  /** Marks the first `tokens` tokens as computed: their full pages can be reused from now on. */
  computed(tokens: number): void
  /** Ends the request after `tokens` computed tokens (0: no more than already reported to `computed`). */
  release(tokens: number): void
}

/** An engine's prefix cache: bounded; evicts the least recently used prefixes, tails first. */
export interface PrefixCache {
  /** Whole pages, in tokens; may be Infinity. */
  readonly capacityTokens: number
  /** Space taken by running requests and by cached prefixes. */
  readonly usedTokens: number
  open(request: CacheRequest): CacheSequence
  /** Length of the longest cached prefix; does not count as a use. */
  match(tokens: Uint32Array, salt: string): number
  /** Forgets everything. Returns false, without effect, while a request runs. */
  clear(): boolean
  /** What changed since the last call. */
  takeReports(): CacheReport[]
  /** Every request that still has a cached prefix. */
  requests(): CachedRequest[]
}

/** One of an engine that reuses KV at any position. */
export interface ReusingPrefixCache extends PrefixCache {
  /** the share that it recomputes, and the bounds of what can be requested, as snapshots announce them */
  readonly offer: { readonly ratio: number; readonly min_ratio: number; readonly max_ratio: number }
}
