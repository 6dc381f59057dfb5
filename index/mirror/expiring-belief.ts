import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache } from './believed-cache.ts'

/** Beliefs that expire, for an engine whose evictions and cache size are both unknown. */
export class ExpiringBelief {
  readonly #cut: BeliefCut
  /** in order of time */
  readonly #usedAt = new Map<RequestId, number>()

  /** Everything already held counts as used `now`. */
  constructor(cache: BelievedCache, now: number, cut: BeliefCut) {
    this.#cut = cut
    for (const request of cache.requestIds()) this.#usedAt.set(request, now)
  }

  /** Records that a request was sent, which uses its whole prompt. */
  note(request: RequestId, now: number): void {
    this.#usedAt.delete(request)
    this.#usedAt.set(request, now)
  }

  /** Drops the belief in every request last used before a time. Prefixes that later requests share stay believed. */
  expire(before: number): void {
    for (const [request, usedAt] of this.#usedAt) {
      if (usedAt >= before) return
      this.#usedAt.delete(request)
      this.#cut({ type: 'evicted', request, cachedTokens: 0 })
    }
  }
}
