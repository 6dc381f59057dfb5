import type { CacheEvent, SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { cutContradicted } from '#index/mirror/contradicted-belief.ts'
import { TokenMirror } from '#index/mirror/token-mirror.ts'
import type { FollowedEvents } from '../engine-reports/followed-events.ts'
import type { AskedPrompt } from '../engine-reports/token-asker.ts'
import { AssumedBelief, type KnownCache } from './assumed-belief.ts'
import { DoubtedRequests } from './doubted-requests.ts'
import { EngineNames } from './engine-names.ts'
import { inSlices } from './in-slices.ts'
import { ReportState } from './report-state.ts'
import { RunningRequests } from './running-requests.ts'

/** Of each replica, 4 bytes each: more than engines hold. */
const mirroredTokens = 32_000_000

/** Aborted requests are told of at the end of the engine's step. */
const doubtMilliseconds = 10_000

/** To find who else believes takes a millisecond of 50,000 requests; an engine that caches nothing denies every answer. */
const cutMilliseconds = 50

/**
 * The one door to what a replica is believed to have cached. It keeps three models of one cache: by characters, which
 * decides (`mirror`), by the engine's tokens, which predicts (`tokens`), and by its blocks where it publishes events
 * (`events`). What happens to a request is told here once.
 */
export class ReplicaCache {
  readonly mirror: CacheMirror
  /** only of requests for whose tokens the engine was asked */
  readonly tokens: TokenMirror
  readonly #reports: Pick<ReportState, 'modeAt' | 'isByCallbacks'>
  readonly #now: () => number
  readonly #running = new RunningRequests()
  readonly #names = new EngineNames()
  readonly #assumed: AssumedBelief
  readonly #doubted = new DoubtedRequests()
  #events: FollowedEvents | undefined
  /** from when on belief is held against an answer again */
  #nextCut = 0
  #known: KnownCache = { capacityTokens: undefined, evictsInWhole: false }

  /** `reports`: how far the engine's reports can be trusted; `now`: milliseconds, monotonic. */
  constructor(
    mirror: CacheMirror,
    reports: Pick<ReportState, 'modeAt' | 'isByCallbacks'> = new ReportState(),
    now: () => number = () => performance.now(),
  ) {
    this.mirror = mirror
    this.tokens = new TokenMirror(mirroredTokens, (request) => mirror.has(request))
    this.#assumed = new AssumedBelief(mirror, ({ type, request, cachedTokens }) =>
      this.#hold(type, request, cachedTokens),
    )
    this.#reports = reports
    this.#now = now
  }

  /** The engine's own events, if it publishes them. */
  get events(): FollowedEvents | undefined {
    return this.#events
  }

  /** From now on the engine's own events are read. */
  followBy(events: FollowedEvents): void {
    this.#events = events
  }

  /** What time brings with it; `known`: what is known by now of the engine's cache. */
  tick(known: KnownCache): void {
    const now = this.#now()
    this.#known = known
    this.#assumed.apply(this.#reports.modeAt(now), known, now)
    this.#endDoubt(now)
  }

  /** The engine evicts by this rule; undefined: by LRU. */
  evictsBy(eviction: Parameters<AssumedBelief['evictsBy']>[0]): void {
    this.#assumed.evictsBy(eviction)
  }

  /**
   * A request is about to be sent: from now on it is believed to be cached. `readsCache`: what the engine finds cached of
   * it tells of what it holds. `exactLength`: characters in front of what is expected to be reused at another position;
   * until the engine reports more, nothing behind them is believed.
   */
  sent(request: RequestId, prompt: SentPrompt, readsCache = true, exactLength?: number): void {
    const now = this.#now()
    const mode = this.#reports.modeAt(now)
    // where the engine reports what it loses, its answer has nothing to add
    const predicted = readsCache && mode === 'fallback' ? this.mirror.predictCachedTokens(prompt) : undefined
    this.#running.begin(request, prompt, predicted)
    this.mirror.apply({ type: 'sent', request, prompt })
    if (exactLength !== undefined) {
      const cachedTokens = this.mirror.estimateTokens(exactLength)
      this.mirror.apply({ type: 'evicted', request, cachedTokens })
    }
    this.#assumed.sent(request, prompt, mode, this.#known, now)
  }

  /** Requests have waited, and go to the engine now; their tokens are learned soon. */
  began(requests: readonly RequestId[], prompts: readonly SentPrompt[]): void {
    this.#events?.sent(requests, prompts)
    for (const [i, request] of requests.entries()) this.tokens.send(request, prompts[i]!.prefixes)
  }

  /** What the tokens of requests are; undefined: they cannot be had. The engine caches pages of so many tokens. */
  learned(
    requests: readonly RequestId[],
    prompts: readonly AskedPrompt[] | undefined,
    pageTokens: number | undefined,
  ): void {
    for (const [i, request] of requests.entries()) this.tokens.learn(request, prompts?.[i], pageTokens)
    this.#events?.learn(requests, prompts)
  }

  /** How many tokens of a request that runs the engine had cached when it was sent; undefined if that is not known. */
  predict(request: RequestId): number | undefined {
    const held = this.tokens.predict(request)
    return held === undefined ? undefined : Math.max(held, this.#events?.countHeld(request) ?? 0)
  }

  /** Up to how many tokens of a prompt may be held by requests whose tokens are not known. */
  estimateUnknown({ prefixes, ends }: SentPrompt): number {
    const count = this.tokens.countUnknown(prefixes)
    return count === 0 ? 0 : this.mirror.estimateTokens(ends[count - 1]!)
  }

  /** The engine has counted a prompt; `cachedTokens`: how much of it was cached, undefined where it does not say. */
  used(request: RequestId, promptTokens: number, cachedTokens: number | undefined): void {
    this.mirror.apply({ type: 'used', request, promptTokens })
    if (cachedTokens !== undefined) this.tokens.used(request, cachedTokens)
    const contradiction = this.#running.contradicts(request, promptTokens, cachedTokens)
    const now = this.#now()
    if (!contradiction || this.#reports.modeAt(now) !== 'fallback' || now < this.#nextCut) return
    this.#nextCut = now + cutMilliseconds
    cutContradicted(this.mirror, contradiction, (cut) => this.#hold(cut.type, cut.request, cut.cachedTokens))
  }

  /**
   * A request has ended before the engine said anything to it. If the engine reports and says nothing about it soon, it
   * holds nothing of it; otherwise the request is believed as much as others that were aborted.
   */
  doubted(request: RequestId): void {
    const now = this.#now()
    if (this.#reports.isByCallbacks && this.#reports.modeAt(now) !== 'fallback') this.#doubted.add(request, now)
  }

  /** The engine has not run requests: it holds nothing of them. */
  failed(requests: readonly RequestId[]): void {
    for (const request of requests) {
      this.mirror.apply({ type: 'failed', request })
      this.tokens.forget(request)
    }
    this.#events?.failed(requests)
  }

  /** Requests are over, well or badly; those that failed have been told of before. */
  ended(requests: readonly RequestId[]): void {
    for (const request of requests) {
      this.#running.end(request)
      this.tokens.end(request)
    }
    this.#events?.ended(requests)
  }

  /** The engine calls a request by a name of its own, and reports about that. */
  named(request: RequestId, name: RequestId): void {
    const reported = this.#names.claim(request, name)
    if (reported !== undefined) this.#hold(reported > 0 ? 'stored' : 'evicted', request, reported)
  }

  /** Whether a request of this name is mirrored. */
  knows(name: RequestId): boolean {
    return this.mirror.has(this.#names.resolve(name))
  }

  /** Tokens of a request that the engine computed again; undefined: it has not said so, or the request has ended. */
  recomputedOf(request: RequestId): number | undefined {
    return this.#running.recomputedOf(request)
  }

  /** The engine reports that it holds so many tokens of what it calls by a name, and that it computed some again. */
  reported(
    type: 'stored' | 'evicted',
    name: RequestId,
    cachedTokens: number,
    recomputedTokens: number | undefined,
  ): void {
    const request = this.#names.resolve(name)
    if (recomputedTokens !== undefined) this.#running.recomputed(request, recomputedTokens)
    this.#keepForStrangers(request, cachedTokens)
    this.#hold(type, request, cachedTokens)
  }

  /** The engine reports all that it holds, in tokens by name. Those that are sent meanwhile are not among them. */
  async replaced(requests: Iterable<readonly [RequestId, number]>): Promise<void> {
    this.mirror.beginSnapshot()
    const held = new Map<RequestId, number>()
    for (const [name, cachedTokens] of requests) held.set(this.#names.resolve(name), cachedTokens)
    this.#names.clear()
    await inSlices([...this.mirror.requestIds()], (request) => {
      if (held.has(request) || !this.mirror.heldOf(request)) return
      this.mirror.apply({ type: 'evicted', request, cachedTokens: 0 })
    })
    await inSlices(held, ([request, cachedTokens]) => {
      this.#keepForStrangers(request, cachedTokens)
      this.mirror.apply({ type: 'stored', request, cachedTokens })
    })
    this.tokens.applySnapshot(held)
  }

  /** What the engine holds of a request, or how many tokens that has, was gathered from its own events. */
  gathered(event: CacheEvent & { readonly type: 'stored' | 'evicted' | 'used' }): void {
    this.mirror.apply(event)
  }

  /** A request that runs while the engine is cleared is believed to be held all the same. */
  resent(request: RequestId, prompt: SentPrompt): void {
    this.mirror.apply({ type: 'sent', request, prompt })
  }

  /** The engine was cleared; what has not ended is believed to be held all the same, as if it had been sent just now. */
  cleared(): void {
    this.#empty(false)
    for (const [request, prompt] of this.#running.all()) this.resent(request, prompt)
  }

  /** Nothing is believed to be cached any more, and what was asked for is forgotten. */
  clear(): void {
    this.#empty(true)
  }

  #empty(forgetsDemand: boolean): void {
    this.mirror.apply({ type: 'cleared', ...(forgetsDemand ? { forgetsDemand } : {}) })
    this.tokens.clear()
    this.#names.clear()
  }

  #hold(type: 'stored' | 'evicted', request: RequestId, cachedTokens: number): void {
    this.tokens.report(request, cachedTokens)
    this.mirror.apply({ type, request, cachedTokens })
  }

  #endDoubt(now: number): void {
    for (const request of this.#doubted.takeEnded(now - doubtMilliseconds)) {
      const isUnheardOf = this.mirror.has(request) && this.tokens.reportedOf(request) === undefined
      if (isUnheardOf && this.#reports.modeAt(now) === 'exact') this.#hold('evicted', request, 0)
    }
  }

  #keepForStrangers(request: RequestId, cachedTokens: number): void {
    if (!this.mirror.has(request)) this.#names.keep(request, cachedTokens)
  }
}
