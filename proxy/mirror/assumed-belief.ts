import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import { AssumedEvictions } from '#index/mirror/assumed-evictions.ts'
import type { BeliefCut, BelievedCache } from '#index/mirror/believed-cache.ts'
import { ExpiringBelief } from '#index/mirror/expiring-belief.ts'
import { type EvictionReport, toHotPolicy } from '#index/mirror/hot/eviction-policy.ts'
import { HotEvictions } from '#index/mirror/hot/hot-evictions.ts'
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
  #named: EvictionReport | null | undefined
  /** undefined: the engine evicts what was used longest ago */
  #hot: HotEvictions | undefined
  /** what was held when the last report came: that much fits, whatever our count of it */
  #known = 0

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
  }

  /** How the engine evicts, as it says itself; what it was asked for before it says something else is not known. */
  evictsBy(report: EvictionReport | null | undefined): void {
    if (JSON.stringify(report) === JSON.stringify(this.#named)) return
    this.#named = report
    const policy = toHotPolicy(report)
    this.#hot = policy && new HotEvictions(this.#cache, this.#cut, policy)
  }

  /** A request was sent. */
  sent(request: RequestId, prompt: SentPrompt, mode: MirrorMode, cache: KnownCache, now: number): void {
    this.#expiry?.note(request, now)
    if (mode === 'exact' || cache.capacityTokens === undefined) this.#hot?.note(prompt)
    else this.#hot?.sent(request, prompt, this.#roomIn(cache.capacityTokens, mode), cache.evictsInWhole)
    this.apply(mode, cache, now)
  }

  /** Believes what a mode allows. */
  apply(mode: MirrorMode, { capacityTokens, evictsInWhole }: KnownCache, now: number): void {
    if (mode === 'exact') {
      this.#evictions?.close()
      this.#evictions = undefined
      this.#hot?.close()
      this.#expiry = undefined
    } else if (capacityTokens !== undefined) this.#fit(capacityTokens, evictsInWhole, mode)
    else if (mode === 'fallback') {
      this.#expiry ??= new ExpiringBelief(this.#cache, now, this.#cut)
      this.#expiry.expire(now - believedMilliseconds)
    }
  }

  #fit(capacityTokens: number, evictsInWhole: boolean, mode: MirrorMode): void {
    this.#expiry = undefined
    const room = this.#roomIn(capacityTokens, mode)
    if (this.#hot) this.#hot.fit(room, evictsInWhole)
    else this.#evictions!.fit(room, evictsInWhole)
  }

  #roomIn(capacityTokens: number, mode: MirrorMode): number {
    if (!this.#evictions) {
      this.#evictions = new AssumedEvictions(this.#cache, this.#cut)
      this.#known = mode === 'degraded' ? this.#cache.heldTokens : 0
    }
    return Math.max(capacityTokens, this.#known)
  }
}
