import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache } from './believed-cache.ts'

/** Belief that ends with time, where neither what an engine evicts nor how much it holds is known. */
export class ExpiringBelief {
  readonly #cut: BeliefCut
  /** in the order of their times */
  readonly #usedAt = new Map<RequestId, number>()

  /** What is held already counts as used `now`. */
  constructor(cache: BelievedCache, now: number, cut: BeliefCut) {
    this.#cut = cut
    for (const request of cache.requestIds()) this.#usedAt.set(request, now)
  }

  /** A request was sent: all that it found and computed was used. */
  note(request: RequestId, now: number): void {
    this.#usedAt.delete(request)
    this.#usedAt.set(request, now)
  }

  /** Believes no more in what was used before a time, but for what was used since as well. */
  expire(before: number): void {
    for (const [request, usedAt] of this.#usedAt) {
      if (usedAt >= before) return
      this.#usedAt.delete(request)
      this.#cut({ type: 'evicted', request, cachedTokens: 0 })
    }
  }
}
