import type { RequestId } from '#index/context-block.ts'
import { AssumedEvictions } from '#index/mirror/assumed-evictions.ts'
import type { BeliefCut, BelievedCache } from '#index/mirror/believed-cache.ts'
import { ExpiringBelief } from '#index/mirror/expiring-belief.ts'
import type { MirrorMode } from './report-silence.ts'

/**
 * How long it is believed that something is cached of which nothing is heard. An order made for what is gone costs
 * nothing, one that is not made loses what was there: an idle engine keeps its cache.
 */
const believedMilliseconds = 60 * 60_000

/** What is known of the cache of an engine of which nothing is reported. */
export interface KnownCache {
  readonly capacityTokens: number | undefined
  /** it evicts a leaf of its tree at once, not page by page (SGLang) */
  readonly evictsInWhole: boolean
}

/**
 * What is believed no more while nobody reports what an engine evicts: by a model of a cache of the known capacity, or,
 * where that is not known, after a while. While reports arrive it does nothing.
 */
export class AssumedBelief {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  #evictions: AssumedEvictions | undefined
  #expiry: ExpiringBelief | undefined
  /** what was held when the last report came: that much fits, whatever our count of it */
  #known = 0

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
  }

  /** A request was sent. */
  sent(request: RequestId, mode: MirrorMode, cache: KnownCache, now: number): void {
    this.#expiry?.note(request, now)
    this.apply(mode, cache, now)
  }

  /** Believes what a mode allows. */
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
