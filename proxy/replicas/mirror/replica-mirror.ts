import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { CacheEvent } from '#index/cache-event.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { inSlices } from '../../http/bounds/event-loop.ts'
import {
  type CheckpointReport,
  type EngineEvent,
  type KnownReuse,
  knownOf,
  type Snapshot,
  toEventBatch,
  toSnapshot,
} from '../reports/callback-bodies.ts'
import { ReplicaCache } from './replica-cache.ts'
import { type Acknowledgement, type MirrorState, ReportState } from './report-state.ts'

export type { Acknowledgement, MirrorMode, MirrorState } from './report-state.ts'

/** How it came that an engine holds nothing: it is the first one that reports, it was restarted, or it was cleared. */
export type Loss = 'first' | 'restarted' | 'cleared'

/**
 * The receiving end of the callback protocol (docs/contract.md, Eviction callbacks) for one replica. Applies its reports to the replica's cache
 * one after the other, each in slices between which requests are served.
 */
export class ReplicaMirror {
  readonly replica: ReplicaId
  readonly cache: ReplicaCache
  readonly #onLost: (loss: Loss) => void
  readonly #now: () => number
  readonly #reports = new ReportState()
  /** resolves when all earlier reports have been applied */
  #turn: Promise<void> = Promise.resolve()
  /** how the engine reuses KV at any position; undefined if it has not said that it does */
  reuse: KnownReuse | undefined
  /** what the engine says of checkpoints, also where no border can be set; undefined: it keeps none */
  kept: Snapshot['checkpoints']
  readonly #applied = { stored: 0, evicted: 0, cleared: 0, snapshot: 0 }

  /** `onLost`: called when the engine holds nothing. `now`: milliseconds, monotonic. */
  constructor(
    replica: ReplicaId,
    mirror: CacheMirror,
    onLost: (loss: Loss) => void = () => {},
    now: () => number = () => performance.now(),
  ) {
    this.replica = replica
    this.cache = new ReplicaCache(mirror, this.#reports, now)
    this.#onLost = onLost
    this.#now = now
  }

  /** The number of applied events of each type. */
  get applied(): Readonly<Record<EngineEvent['type'] | 'snapshot', number>> {
    return this.#applied
  }

  /** How the engine keeps checkpoints at borders that requests name; undefined if it has not said that it does. */
  get checkpoints(): CheckpointReport | undefined {
    return this.kept && 'key' in this.kept ? this.kept : undefined
  }

  /** The state of the protocol. */
  get state(): MirrorState {
    return this.#reports.at(this.#now())
  }

  /** Takes a batch of events. A batch that arrives while a snapshot is being read waits for it. */
  async takeEvents(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const batch = toEventBatch(await body())
    this.#reports.heard(this.#now())
    return this.#inTurn(async () => {
      const refusal = this.#reports.refuse(batch)
      if (refusal) return refusal
      await inSlices(batch.events, (event) => this.takeEvent(event))
      return this.#reports.took(batch.sequence)
    })
  }

  /** Takes a snapshot, which replaces the state. A snapshot older than the state is a repeat and is ignored. */
  takeSnapshot(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const read = body().then(toSnapshot)
    this.#reports.hears(read, this.#now)
    // a failed snapshot leaves the state as it was, also for the events that wait for it
    return this.#inTurn(async () => this.#replace(await read))
  }

  /** Takes a single event, whatever its place in the protocol's sequence. */
  takeEvent({ type, request_id, cached_tokens = 0, recomputed_tokens, checkpoints }: EngineEvent): void {
    this.#applied[type] += 1
    if (type === 'cleared') {
      this.#lose()
      return
    }
    const recomputed = type === 'stored' ? recomputed_tokens : undefined
    this.cache.reported(type, request_id as RequestId, cached_tokens, recomputed, checkpoints)
  }

  /** Takes what was derived from the engine's own events, which replace callbacks. */
  report(event: Exclude<CacheEvent, { type: 'sent' | 'failed' | 'shared' }>): void {
    if (event.type !== 'used') this.#applied[event.type] += 1
    if (event.type === 'cleared') this.#lose()
    else this.cache.gathered(event)
  }

  /** Sets the state of the engine's own events. */
  setState(state: MirrorState): void {
    this.#reports.follow(state)
  }

  /** Continues from the state that another proxy sharing this mirror has reached with the engine's reports. */
  adopt(state: MirrorState): void {
    this.#reports.adopt(state, this.#now())
  }

  /** Sets what the engine said about reuse at any position, here or to another proxy. Valid until it says so again. */
  adoptReuse(reuse: AnyPositionReuse | null | undefined): void {
    this.reuse = reuse ? knownOf(reuse) : undefined
  }

  /** Delays further reports until a promise settles. */
  hold(until: Promise<unknown>): void {
    this.#turn = Promise.allSettled([this.#turn, until]).then(dropResult)
  }

  /** Resets the replica: nothing counts as cached any more, and the demand history is forgotten. */
  clear(): void {
    this.#onLost('cleared')
    this.cache.clear()
  }

  async #replace(snapshot: Snapshot): Promise<Acknowledgement> {
    const refusal = this.#reports.refuseSnapshot(snapshot)
    if (refusal) return refusal
    const { generation, sequence, requests, reuse, checkpoints } = snapshot
    const life = this.#reports.beginLife(generation)
    if (life !== 'same') this.#onLost(life)
    this.adoptReuse(reuse)
    this.kept = checkpoints
    this.cache.tokens.keepsCheckpoints = Boolean(checkpoints)
    await this.cache.replaced(requests.map((own) => [own.request_id as RequestId, own.cached_tokens, own.checkpoints]))
    this.#applied.snapshot += 1
    return this.#reports.took(sequence)
  }

  #lose(): void {
    this.#onLost('cleared')
    this.cache.cleared()
  }

  #inTurn<T>(take: () => Promise<T>): Promise<T> {
    const taken = this.#turn.then(take)
    // otherwise each result would retain the one before it, and with it the body of every snapshot
    this.#turn = taken.then(dropResult, dropResult)
    return taken
  }
}

function dropResult(): void {}
