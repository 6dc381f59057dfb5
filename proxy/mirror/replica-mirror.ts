import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { CacheEvent } from '#index/cache-event.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { TokenMirror } from '#index/mirror/token-mirror.ts'
import {
  type EngineEvent,
  type EventBatch,
  type Snapshot,
  toEventBatch,
  toSnapshot,
} from '../engine-reports/callback-bodies.ts'
import { fromReport, type ReuseReport } from '../engine-reports/reuse-report.ts'
import { inSlices } from './in-slices.ts'
import { ReplicaCache } from './replica-cache.ts'
import { type Acknowledgement, type MirrorState, ReportState } from './report-state.ts'

export type { MirrorMode } from './report-silence.ts'
export type { Acknowledgement, MirrorState } from './report-state.ts'

/**
 * The receiving end of the callback protocol (CONTRACT §4) for one replica: takes its reports one after the other, each in
 * slices between which requests go on, and tells the replica's cache.
 */
export class ReplicaMirror {
  readonly replica: ReplicaId
  readonly cache: ReplicaCache
  /** Told when reports are of another life of the engine than those before. */
  onRestart: () => void = () => {}
  /** Told when the engine holds nothing of what it held. */
  onCleared: () => void = () => {}
  readonly #onLost: () => void
  readonly #now: () => number
  readonly #reports = new ReportState()
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
    this.cache = new ReplicaCache(mirror, this.#reports, now)
    this.#onLost = onLost
    this.#now = now
  }

  get mirror(): CacheMirror {
    return this.cache.mirror
  }

  get tokens(): TokenMirror {
    return this.cache.tokens
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

  /** Where the protocol stands. */
  get state(): MirrorState {
    return this.#reports.at(this.#now())
  }

  /** Takes a batch of events; those that arrive while a snapshot is being read wait for it. */
  async takeEvents(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const batch = toEventBatch(await body())
    this.#reports.heard(this.#now())
    return this.#inTurn(() => this.#takeBatch(batch))
  }

  /** Takes a snapshot, which replaces the state; one that is older than the state is a repeat and is ignored. */
  takeSnapshot(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const read = body().then(toSnapshot)
    this.#reports.hears(read, this.#now)
    // a failed snapshot leaves the state as it was, for the events that wait for it too
    return this.#inTurn(async () => this.#replace(await read))
  }

  /** Takes an event that comes alone, outside of the protocol's sequence. */
  takeEvent(event: EngineEvent): void {
    this.#apply(event)
  }

  /** Takes what was gathered from the engine's own events, in place of callbacks. */
  report(event: Exclude<CacheEvent, { type: 'sent' | 'failed' | 'shared' }>): void {
    if (event.type !== 'used') this.#applied[event.type] += 1
    if (event.type === 'cleared') this.#lose()
    else this.cache.gathered(event)
  }

  /** Where the engine's own events stand. */
  setState(state: MirrorState): void {
    this.#reports.follow(state)
  }

  /** Goes on where another proxy that shares this mirror has got to with the engine's reports. */
  adopt(state: MirrorState): void {
    this.#reports.adopt(state, this.#now())
  }

  /** Takes what the engine says of reuse at any position, here or to another proxy; until it is said anew. */
  adoptReuse(reuse: ReuseReport | null | undefined): void {
    this.#reuse = reuse ? fromReport(reuse) : undefined
  }

  /** What is reported waits until something has happened, well or badly. */
  hold(until: Promise<unknown>): void {
    this.#turn = Promise.allSettled([this.#turn, until]).then(dropResult)
  }

  /** Begins anew: nothing is believed to be cached any more, and what was asked for is forgotten. */
  clear(): void {
    this.#tellLost()
    this.cache.clear()
  }

  async #takeBatch(batch: EventBatch): Promise<Acknowledgement> {
    const refusal = this.#reports.refuse(batch)
    if (refusal) return refusal
    await inSlices(batch.events, (event) => this.#apply(event))
    return this.#reports.took(batch.sequence)
  }

  async #replace(snapshot: Snapshot): Promise<Acknowledgement> {
    const refusal = this.#reports.refuseSnapshot(snapshot)
    if (refusal) return refusal
    const { generation, sequence, requests, reuse, eviction } = snapshot
    const life = this.#reports.beginLife(generation)
    if (life !== 'same') this.#onLost()
    if (life === 'next') {
      this.onCleared()
      this.onRestart()
    }
    this.adoptReuse(reuse)
    this.cache.evictsBy(eviction)
    await this.cache.replaced(requests.map((own) => [own.request_id as RequestId, own.cached_tokens]))
    this.#applied.snapshot += 1
    return this.#reports.took(sequence)
  }

  #apply({ type, request_id, cached_tokens = 0, recomputed_tokens }: EngineEvent): void {
    this.#applied[type] += 1
    if (type === 'cleared') {
      this.#lose()
      return
    }
    const recomputed = type === 'stored' ? recomputed_tokens : undefined
    this.#recomputedTokens += recomputed ?? 0
    this.cache.reported(type, request_id as RequestId, cached_tokens, recomputed)
  }

  #lose(): void {
    this.#tellLost()
    this.cache.cleared()
  }

  #tellLost(): void {
    this.#onLost()
    this.onCleared()
  }

  #inTurn<T>(take: () => Promise<T>): Promise<T> {
    const taken = this.#turn.then(take)
    // each result would hold the one before it, and the body of every snapshot with it
    this.#turn = taken.then(dropResult, dropResult)
    return taken
  }
}

function dropResult(): void {}
