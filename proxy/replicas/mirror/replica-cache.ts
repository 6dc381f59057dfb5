import { type HeldTokens, nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import type { CacheEvent, SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import { type BeliefCut, cutContradicted } from '#index/mirror/believed-cache.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Checkpoint } from '#index/mirror/checkpoints.ts'
import { TokenMirror } from '#index/mirror/token-mirror.ts'
import { inSlices } from '../../http/bounds/event-loop.ts'
import type { FollowedEvents } from '../reports/followed-events.ts'
import type { AskedPrompt } from '../reports/token-asker.ts'
import { AssumedBelief, type KnownCache } from './assumed-belief.ts'
import { EngineNames } from './engine-names.ts'
import { ReportState } from './report-state.ts'
import { RunningRequests } from './running-requests.ts'

/** Tokens per replica, 4 bytes each: more than engines hold. */
const mirroredTokens = 32_000_000

/** The engine reports aborted requests at the end of its step. */
const doubtMilliseconds = 10_000

/** Searching 50,000 requests takes a millisecond, and an engine that caches nothing contradicts every prediction. */
const cutMilliseconds = 50

/**
 * The only entry point to what a replica is believed to have cached. It keeps three models of one cache: by characters,
 * for decisions (`mirror`); by the engine's tokens, for predictions (`tokens`); and by its blocks, if it publishes
 * events (`events`). Everything that happens to a request is reported here once.
 */
export class ReplicaCache {
  readonly mirror: CacheMirror
  /** only for requests whose tokens were requested from the engine */
  readonly tokens: TokenMirror
  /** the engine's own events, once they are followed */
  events: FollowedEvents | undefined
  readonly #reports: Pick<ReportState, 'modeAt' | 'isByCallbacks'>
  readonly #now: () => number
  readonly #running = new RunningRequests()
  readonly #names = new EngineNames()
  readonly #assumed: AssumedBelief
  /** requests that ended before the engine answered, and when, oldest first: its reports will show what it had begun */
  readonly #doubted = new Map<RequestId, number>()
  /** when belief is next compared with an answer */
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
    this.#assumed = new AssumedBelief(mirror, (cut) => this.#cut(cut))
    this.#reports = reports
    this.#now = now
  }

  /** Runs time-based updates. `known`: what is currently known about the engine's cache. */
  tick(known: KnownCache): void {
    const now = this.#now()
    this.#known = known
    this.#assumed.apply(this.#reports.modeAt(now), known, now)
    this.#endDoubt(now)
  }

  /**
   * A request is about to be sent: it counts as cached from now on. `readsCache`: the engine's count of cached tokens
   * shows what it holds. `exactLength`: characters before the part that is expected to be reused at another position;
   * until the engine reports more, only these count as cached.
   */
  sent(request: RequestId, prompt: SentPrompt, readsCache = true, exactLength?: number): void {
    const now = this.#now()
    const mode = this.#reports.modeAt(now)
    // if the engine reports evictions, its answer adds nothing
    const predicted = readsCache && mode === 'fallback' ? this.mirror.predictCachedTokens(prompt) : undefined
    this.#running.begin(request, prompt, predicted)
    this.mirror.apply({ type: 'sent', request, prompt })
    if (exactLength !== undefined) {
      const cachedTokens = this.mirror.estimateTokens(exactLength)
      this.mirror.apply({ type: 'evicted', request, cachedTokens })
    }
    this.#assumed.sent(request, mode, this.#known, now)
  }

  /** Requests have left the queue and go to the engine now; their tokens are learned soon. */
  began(requests: readonly RequestId[], prompts: readonly SentPrompt[]): void {
    this.events?.sent(requests, prompts)
    for (const [i, request] of requests.entries()) this.tokens.send(request, prompts[i]!.prefixes)
  }

  /** Sets the tokens of requests; undefined: they are unavailable. `pageTokens`: the engine's page size. */
  learned(
    requests: readonly RequestId[],
    prompts: readonly AskedPrompt[] | undefined,
    pageTokens: number | undefined,
  ): void {
    for (const [i, request] of requests.entries()) this.tokens.learn(request, prompts?.[i], pageTokens)
    this.events?.learn(requests, prompts)
  }

  /** Predicted tokens of a running request that the engine had cached when it was sent; undefined if unknown. */
  predict(request: RequestId): HeldTokens | undefined {
    const device = this.tokens.predict(request)
    if (device === undefined) return undefined
    const held = this.events?.countHeld(request)
    // of what was sent lately, the events may not have told yet
    return held && held.device + held.host + held.remote >= device ? held : { ...nothingHeld, device }
  }

  /** An upper bound for the tokens of a prompt that are held by requests whose tokens are unknown. */
  estimateUnknown({ prefixes, ends }: SentPrompt): number {
    const count = this.tokens.countUnknown(prefixes)
    return count === 0 ? 0 : this.mirror.estimateTokens(ends[count - 1]!)
  }

  /** The engine has counted a prompt. `cachedTokens`: how much of it was cached; undefined if not reported. */
  used(request: RequestId, promptTokens: number, cachedTokens: number | undefined): void {
    this.mirror.apply({ type: 'used', request, promptTokens })
    // until now its tokens were converted as those of an average prompt
    const reported = this.tokens.reportedOf(request)
    if (reported !== undefined) this.#resize('stored', request, reported)
    if (cachedTokens !== undefined) this.tokens.used(request, cachedTokens)
    const contradiction = this.#running.contradicts(request, promptTokens, cachedTokens)
    const now = this.#now()
    if (!contradiction || this.#reports.modeAt(now) !== 'fallback' || now < this.#nextCut) return
    this.#nextCut = now + cutMilliseconds
    cutContradicted(this.mirror, contradiction, (cut) => this.#cut(cut))
  }

  /**
   * A request ended before the engine answered. If the engine reports by callbacks and says nothing about this request
   * within 10 s, assume nothing was cached; otherwise treat it like any aborted request.
   */
  doubted(request: RequestId): void {
    const now = this.#now()
    if (this.#reports.isByCallbacks && this.#reports.modeAt(now) !== 'fallback') this.#doubted.set(request, now)
  }

  /** The engine did not run these requests and holds nothing of them. */
  failed(requests: readonly RequestId[]): void {
    for (const request of requests) {
      this.mirror.apply({ type: 'failed', request })
      this.tokens.forget(request)
    }
    this.events?.failed(requests)
  }

  /** Requests have ended, successfully or not. Those that failed were passed to `failed` before. */
  ended(requests: readonly RequestId[]): void {
    for (const request of requests) {
      this.#running.delete(request)
      this.tokens.end(request)
    }
    this.events?.ended(requests)
  }

  /** The engine uses its own name for a request in its reports. */
  named(request: RequestId, name: RequestId): void {
    const reported = this.#names.claim(request, name)
    if (reported !== undefined) this.#hold(reported > 0 ? 'stored' : 'evicted', request, reported)
  }

  /** Whether a request of this name is mirrored. */
  knows(name: RequestId): boolean {
    return this.mirror.has(this.#names.resolve(name))
  }

  /** Tokens of a request that the engine recomputed; undefined if it has not said so, or the request has ended. */
  recomputedOf(request: RequestId): number | undefined {
    return this.#running.get(request)?.recomputedTokens
  }

  /**
   * The engine reports how many tokens it holds of the request it calls `name`, how many it recomputed, and at which
   * lengths it keeps checkpoints.
   */
  reported(
    type: 'stored' | 'evicted',
    name: RequestId,
    cachedTokens: number,
    recomputedTokens: number | undefined,
    checkpoints?: readonly Checkpoint[],
  ): void {
    const request = this.#names.resolve(name)
    if (recomputedTokens !== undefined) this.#running.recomputed(request, recomputedTokens)
    this.#keepForStrangers(request, cachedTokens)
    this.#hold(type, request, cachedTokens, checkpoints)
  }

  /** The engine reports everything it holds, in tokens by name. Requests sent meanwhile are not included. */
  async replaced(
    requests: Iterable<readonly [RequestId, number, (readonly Checkpoint[] | undefined)?]>,
  ): Promise<void> {
    this.mirror.beginSnapshot()
    const held = new Map<RequestId, readonly [number, (readonly Checkpoint[] | undefined)?]>()
    for (const [name, ...told] of requests) held.set(this.#names.resolve(name), told)
    this.#names.clear()
    // requests are served between slices, so both models learn of a request in the same one
    await inSlices(new Set([...this.mirror.requestIds(), ...this.tokens.requestIds()]), (request) => {
      if (held.has(request)) return
      if (this.mirror.heldOf(request)) this.mirror.apply({ type: 'evicted', request, cachedTokens: 0 })
      this.tokens.omitted(request)
    })
    await inSlices(held, ([request, [cachedTokens, checkpoints]]) => {
      this.#keepForStrangers(request, cachedTokens)
      this.#hold('stored', request, cachedTokens, checkpoints)
    })
    this.tokens.endSnapshot()
  }

  /** Applies what was derived from the engine's own events: what it holds of a request, or the request's tokens. */
  gathered(event: CacheEvent & { readonly type: 'stored' | 'evicted' | 'used' }): void {
    if (event.type === 'used') this.mirror.apply(event)
    else this.#resize(event.type, event.request, event.cachedTokens)
  }

  /** Counts a request that runs while the engine is cleared as cached nevertheless. */
  resent(request: RequestId, prompt: SentPrompt): void {
    this.mirror.apply({ type: 'sent', request, prompt })
  }

  /** The engine was cleared. Requests that have not ended still count as cached, as if they had just been sent. */
  cleared(): void {
    this.#empty(false)
    for (const [request, { prompt }] of this.#running) this.resent(request, prompt)
  }

  /** Nothing counts as cached any more, and the demand history is forgotten. */
  clear(): void {
    this.#empty(true)
  }

  #empty(forgetsDemand: boolean): void {
    this.mirror.apply({ type: 'cleared', ...(forgetsDemand ? { forgetsDemand } : {}) })
    this.tokens.clear()
    this.#names.clear()
  }

  #hold(
    type: 'stored' | 'evicted',
    request: RequestId,
    cachedTokens: number,
    checkpoints?: readonly Checkpoint[],
  ): void {
    this.tokens.report(request, cachedTokens, checkpoints)
    this.#resize(type, request, cachedTokens)
  }

  /** Drops what is believed beyond a length. That is our own estimate, so it is not rounded to the engine's pages. */
  #cut(cut: Parameters<BeliefCut>[0]): void {
    this.tokens.report(cut.request, cut.cachedTokens)
    this.mirror.apply(cut)
  }

  #resize(type: 'stored' | 'evicted', request: RequestId, cachedTokens: number): void {
    const pageTokens = this.events?.blockSize || this.#known.pageTokens
    this.mirror.apply({ type, request, cachedTokens, pageTokens })
  }

  #endDoubt(now: number): void {
    for (const [request, endedAt] of this.#doubted) {
      if (endedAt > now - doubtMilliseconds) return
      this.#doubted.delete(request)
      const isUnheardOf = this.mirror.has(request) && this.tokens.reportedOf(request) === undefined
      if (isUnheardOf && this.#reports.modeAt(now) === 'exact') this.#hold('evicted', request, 0)
    }
  }

  #keepForStrangers(request: RequestId, cachedTokens: number): void {
    if (!this.mirror.has(request)) this.#names.keep(request, cachedTokens)
  }
}
