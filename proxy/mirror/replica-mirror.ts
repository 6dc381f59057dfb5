import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { CacheEvent, SentPrompt } from '#index/cache-event.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { cutContradicted } from '#index/mirror/contradicted-belief.ts'
import { TokenMirror } from '#index/mirror/token-mirror.ts'
import {
  type EngineEvent,
  type EventBatch,
  type ReuseReport,
  type Snapshot,
  toEventBatch,
  toSnapshot,
} from '../engine-reports/callback-bodies.ts'
import { AssumedBelief, type KnownCache } from './assumed-belief.ts'
import { DoubtedRequests } from './doubted-requests.ts'
import { EngineNames } from './engine-names.ts'
import { inSlices } from './in-slices.ts'
import { type MirrorMode, ReportSilence } from './report-silence.ts'
import { RunningRequests } from './running-requests.ts'

export type { MirrorMode } from './report-silence.ts'

/** What the sender is told: taken up to a sequence, or what was expected instead. */
export type Acknowledgement = { readonly sequence: number } | { readonly expected: number }

/** Where the reports about a replica stand. */
export interface MirrorState {
  readonly mode: MirrorMode
  readonly generation: string | undefined
  readonly sequence: number
}

/** Of each replica, 4 bytes each: more than engines hold. */
const mirroredTokens = 32_000_000

/** Aborted requests are told of at the end of the engine's step. */
const doubtMilliseconds = 10_000

/** To find who else believes takes a millisecond of 50,000 requests; an engine that caches nothing denies every answer. */
const cutMilliseconds = 50

/** The receiving end of the callback protocol (CONTRACT §4) for one replica. */
export class ReplicaMirror {
  readonly replica: ReplicaId
  readonly mirror: CacheMirror
  /** the same in the engine's own tokens, of requests for whose tokens it was asked */
  readonly tokens: TokenMirror
  /** Told when reports are of another life of the engine than those before. */
  onRestart: () => void = () => {}
  /** Told when the engine holds nothing of what it held. */
  onCleared: () => void = () => {}
  readonly #onLost: () => void
  readonly #now: () => number
  #generation: string | undefined
  #sequence = 0
  #mode: MirrorMode = 'fallback'
  /** undefined: what is reported comes from the engine's own events, which know when they are late */
  #silence: ReportSilence | undefined = new ReportSilence()
  readonly #running = new RunningRequests()
  readonly #names = new EngineNames()
  readonly #assumed: AssumedBelief
  readonly #doubted = new DoubtedRequests()
  /** from when on belief is held against an answer again */
  #nextCut = 0
  #cache: KnownCache = { capacityTokens: undefined, evictsInWhole: false }
  /** resolves when all that came before is taken */
  #turn: Promise<void> = Promise.resolve()
  #reuse: AnyPositionReuse | undefined
  #recomputedTokens = 0
  readonly #applied = { stored: 0, evicted: 0, cleared: 0, snapshot: 0 }

  /** `onLost`: the engine holds nothing of what it held: it was cleared, or began anew. `now`: milliseconds, monotonic. */
  constructor(
    replica: ReplicaId,
    mirror: CacheMirror,
    onLost: () => void = () => {},
    now: () => number = () => performance.now(),
  ) {
    this.replica = replica
    this.mirror = mirror
    this.tokens = new TokenMirror(mirroredTokens, (request) => mirror.has(request))
    this.#assumed = new AssumedBelief(mirror, ({ type, request, cachedTokens }) =>
      this.#tell(type, request, cachedTokens),
    )
    this.#onLost = onLost
    this.#now = now
  }

  /** How many events of each type were applied. */
  get applied(): Readonly<Record<EngineEvent['type'] | 'snapshot', number>> {
    return this.#applied
  }

  /** How the engine reuses KV at any position; undefined: it has not said that it does. */
  get reuse(): AnyPositionReuse | undefined {
    return this.#reuse
  }

  /** Tokens that the engine reused at another position and computed again, of all requests. */
  get recomputedTokens(): number {
    return this.#recomputedTokens
  }

  /** The same of a request that has not ended; undefined: the engine has not said so. */
  recomputedOf(request: RequestId): number | undefined {
    return this.#running.recomputedOf(request)
  }

  /** Where the protocol stands. */
  get state(): MirrorState {
    return { mode: this.#modeAt(this.#now()), generation: this.#generation, sequence: this.#sequence }
  }

  /** What time brings with it; `cache`: what is known by now of the engine's. */
  tick(cache: KnownCache): void {
    const now = this.#now()
    this.#cache = cache
    this.#assumed.apply(this.#modeAt(now), cache, now)
    this.#endDoubt(now)
  }

  /**
   * A request is about to be sent: from now on it is believed to be cached. `readsCache`: what the engine finds cached of
   * it tells of what it holds. `exactLength`: characters in front of what is expected to be reused at another position;
   * until the engine reports more, nothing behind them is believed.
   */
  sent(request: RequestId, prompt: SentPrompt, readsCache = true, exactLength?: number): void {
    const now = this.#now()
    const mode = this.#modeAt(now)
    // where the engine reports what it loses, its answer has nothing to add
    const predicted = readsCache && mode === 'fallback' ? this.mirror.predictCachedTokens(prompt) : undefined
    this.#running.begin(request, prompt, predicted)
    this.mirror.apply({ type: 'sent', request, prompt })
    if (exactLength !== undefined) {
      const cachedTokens = this.mirror.estimateTokens(exactLength)
      this.mirror.apply({ type: 'evicted', request, cachedTokens })
    }
    this.#assumed.sent(request, prompt, mode, this.#cache, now)
  }

  /** The engine has counted a prompt; `cachedTokens`: how much of it was cached, undefined where it does not say. */
  used(request: RequestId, promptTokens: number, cachedTokens: number | undefined): void {
    this.mirror.apply({ type: 'used', request, promptTokens })
    if (cachedTokens !== undefined) this.tokens.used(request, cachedTokens)
    const contradiction = this.#running.contradicts(request, promptTokens, cachedTokens)
    const now = this.#now()
    if (!contradiction || this.#modeAt(now) !== 'fallback' || now < this.#nextCut) return
    this.#nextCut = now + cutMilliseconds
    cutContradicted(this.mirror, contradiction, (cut) => this.#tell(cut.type, cut.request, cut.cachedTokens))
  }

  /**
   * A request has ended before the engine said anything to it. Where it reports, what it does not report of it soon it
   * does not hold; elsewhere it is believed as much as others that were aborted.
   */
  doubt(request: RequestId): void {
    const now = this.#now()
    if (this.#silence && this.#modeAt(now) !== 'fallback') this.#doubted.add(request, now)
  }

  /** The engine has ended with requests, well or badly. */
  ended(requests: readonly RequestId[]): void {
    for (const request of requests) this.#running.end(request)
  }

  /** The engine calls a request by a name of its own, and reports about that. */
  named(request: RequestId, name: RequestId): void {
    const reported = this.#names.claim(request, name)
    if (reported !== undefined) this.#tell(reported > 0 ? 'stored' : 'evicted', request, reported)
  }

  /** Takes a batch of events; those that arrive while a snapshot is being read wait for it. */
  async takeEvents(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const batch = toEventBatch(await body())
    this.#heard()
    return this.#inTurn(() => this.#takeBatch(batch))
  }

  /** Takes a snapshot, which replaces the state; one that is older than the state is a repeat and is ignored. */
  takeSnapshot(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const read = body().then(toSnapshot)
    this.#silence ??= new ReportSilence()
    this.#silence.begin(read, this.#now)
    // a failed snapshot leaves the state as it was, for the events that wait for it too
    return this.#inTurn(async () => this.#replace(await read))
  }

  /** Whether a request of this name is mirrored. */
  knows(name: RequestId): boolean {
    return this.mirror.has(this.#names.resolve(name))
  }

  /** Takes an event that comes alone, outside of the protocol's sequence. */
  takeEvent(event: EngineEvent): void {
    this.#apply(event)
  }

  /** Takes what was gathered from the engine's own events, in place of callbacks. */
  report(event: Exclude<CacheEvent, { type: 'sent' | 'failed' | 'shared' }>): void {
    if (event.type !== 'used') this.#applied[event.type] += 1
    if (event.type === 'cleared') this.#lose()
    else this.mirror.apply(event)
  }

  /** A request that runs while the engine is cleared is believed to be held all the same. */
  resend(request: RequestId, prompt: SentPrompt): void {
    this.mirror.apply({ type: 'sent', request, prompt })
  }

  /** Where the engine's own events stand. */
  setState(state: MirrorState): void {
    this.#goOn(state)
    this.#silence = undefined
  }

  /** Goes on where another proxy that shares this mirror has got to with the engine's reports. */
  adopt(state: MirrorState): void {
    this.#goOn(state)
    this.#heard()
  }

  /** Takes what the engine says of reuse at any position, here or to another proxy; until it is said anew. */
  adoptReuse(reuse: ReuseReport | null | undefined): void {
    this.#reuse = reuse ? { ratio: reuse.ratio, maxRatio: reuse.max_ratio } : undefined
  }

  /** What is reported waits until something has happened, well or badly. */
  hold(until: Promise<unknown>): void {
    this.#turn = Promise.allSettled([this.#turn, until]).then(dropResult)
  }

  /** Begins anew: nothing is believed to be cached any more, and what was asked for is forgotten. */
  clear(): void {
    this.#empty({ type: 'cleared', forgetsDemand: true })
  }

  async #takeBatch({ generation, sequence, events }: EventBatch): Promise<Acknowledgement> {
    if (generation !== this.#generation) {
      // what is believed is of an engine's life that is over
      if (this.#generation !== undefined) this.#mode = 'degraded'
      return { expected: 0 }
    }
    if (sequence <= this.#sequence) return { sequence }
    if (sequence > this.#sequence + 1) {
      this.#mode = 'degraded'
      return { expected: this.#sequence + 1 }
    }
    await inSlices(events, (event) => this.#apply(event))
    this.#sequence = sequence
    this.#mode = 'exact'
    return { sequence }
  }

  async #replace({ generation, sequence, requests, reuse, eviction }: Snapshot): Promise<Acknowledgement> {
    if (generation === this.#generation && sequence < this.#sequence) return { sequence: this.#sequence }
    if (generation !== this.#generation) {
      this.#onLost()
      if (this.#generation !== undefined) this.onCleared()
      if (this.#generation !== undefined) this.onRestart()
      this.#generation = generation
      this.#sequence = 0
    }
    this.adoptReuse(reuse)
    this.#assumed.evictsBy(eviction)
    this.mirror.beginSnapshot()
    const held = new Map<RequestId, number>()
    for (const { request_id, cached_tokens } of requests) {
      held.set(this.#names.resolve(request_id as RequestId), cached_tokens)
    }
    this.#names.clear()
    // those that are sent while it is taken are not among them
    await inSlices([...this.mirror.requestIds()], (request) => {
      if (held.has(request) || !this.mirror.heldOf(request)) return
      this.mirror.apply({ type: 'evicted', request, cachedTokens: 0 })
    })
    await inSlices(held, ([request, cachedTokens]) => {
      this.#keepForStrangers(request, cachedTokens)
      this.mirror.apply({ type: 'stored', request, cachedTokens })
    })
    this.tokens.applySnapshot(held)
    this.#sequence = sequence
    this.#mode = 'exact'
    this.#applied.snapshot += 1
    return { sequence }
  }

  #apply({ type, request_id, cached_tokens = 0, recomputed_tokens }: EngineEvent): void {
    this.#applied[type] += 1
    if (type === 'cleared') {
      this.#lose()
      return
    }
    const request = this.#names.resolve(request_id as RequestId)
    if (type === 'stored' && recomputed_tokens !== undefined) {
      this.#recomputedTokens += recomputed_tokens
      this.#running.recomputed(request, recomputed_tokens)
    }
    this.#keepForStrangers(request, cached_tokens)
    this.#tell(type, request, cached_tokens)
  }

  #tell(type: 'stored' | 'evicted', request: RequestId, cachedTokens: number): void {
    this.tokens.report(request, cachedTokens)
    this.mirror.apply({ type, request, cachedTokens })
  }

  #endDoubt(now: number): void {
    for (const request of this.#doubted.takeEnded(now - doubtMilliseconds)) {
      const isUnheardOf = this.mirror.has(request) && this.tokens.reportedOf(request) === undefined
      if (isUnheardOf && this.#modeAt(now) === 'exact') this.#tell('evicted', request, 0)
    }
  }

  #keepForStrangers(request: RequestId, cachedTokens: number): void {
    if (!this.mirror.has(request)) this.#names.keep(request, cachedTokens)
  }

  /** The engine was cleared; what has not ended is believed to be held all the same, as if it had been sent just now. */
  #lose(): void {
    this.#empty({ type: 'cleared' })
    for (const [request, prompt] of this.#running.all()) this.mirror.apply({ type: 'sent', request, prompt })
  }

  #empty(event: CacheEvent & { readonly type: 'cleared' }): void {
    this.#onLost()
    this.onCleared()
    this.mirror.apply(event)
    this.tokens.clear()
    this.#names.clear()
  }

  #goOn({ mode, generation, sequence }: MirrorState): void {
    this.#mode = mode
    this.#generation = generation
    this.#sequence = sequence
  }

  #heard(): void {
    this.#silence ??= new ReportSilence()
    this.#silence.heard(this.#now())
  }

  #modeAt(now: number): MirrorMode {
    return this.#silence ? this.#silence.limit(this.#mode, now) : this.#mode
  }

  /** Reports are taken one after the other, each in slices between which requests go on. */
  #inTurn<T>(take: () => Promise<T>): Promise<T> {
    const taken = this.#turn.then(take)
    // each result would hold the one before it, and the body of every snapshot with it
    this.#turn = taken.then(dropResult, dropResult)
    return taken
  }
}

function dropResult(): void {}
