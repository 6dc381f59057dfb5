import type { RequestId } from '#index/context-block.ts'
import { AssumedEvictions, type BeliefCut, type BelievedCache, ExpiringBelief } from '#index/mirror/believed-cache.ts'
import type { MirrorMode } from './report-state.ts'

/**
 * How long something counts as cached without news of it. Ordering for a cache entry that is gone costs nothing, but
 * not ordering for one that is there loses it; an idle engine keeps its cache.
 */
const believedMilliseconds = 60 * 60_000

/** What is known about the cache of an engine. */
export interface KnownCache {
  readonly capacityTokens: number | undefined
  readonly pageTokens?: number | undefined
  /** it evicts a leaf of its tree at once, not page by page (SGLang) */
  readonly evictsInWhole: boolean
}

/**
 * Drops belief while nobody reports the engine's evictions: by simulating a cache of the known capacity, or, if the
 * capacity is unknown, by expiry. Does nothing while reports arrive.
 */
export class AssumedBelief {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  #evictions: AssumedEvictions | undefined
  #expiry: ExpiringBelief | undefined
  /** tokens held at the last report: that much fits, whatever we count */
  #known = 0

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
  }

  /** Notes that a request was sent. */
  sent(request: RequestId, mode: MirrorMode, cache: KnownCache, now: number): void {
    this.#expiry?.note(request, now)
    this.apply(mode, cache, now)
  }

  /** Drops belief as the mode requires. */
  apply(mode: MirrorMode, { capacityTokens, evictsInWhole }: KnownCache, now: number): void {
    if (mode === 'exact') {
      this.#evictions?.close()
      this.#evictions = undefined
      this.#expiry = undefined
    } else if (capacityTokens !== undefined) this.#fit(capacityTokens, evictsInWhole, mode)
    else if (mode === 'fallback') {
      this.#expiry ??= new ExpiringBelief(this.#cache, now, this.#cut)
      this.#expiry.expire(now - believedMilliseconds)
    }
  }

  #fit(capacityTokens: number, evictsInWhole: boolean, mode: MirrorMode): void {
    this.#expiry = undefined
    if (!this.#evictions) {
      this.#evictions = new AssumedEvictions(this.#cache, this.#cut)
      this.#known = mode === 'degraded' ? this.#cache.heldTokens : 0
    }
    this.#evictions.fit(Math.max(capacityTokens, this.#known), evictsInWhole)
  }
}
