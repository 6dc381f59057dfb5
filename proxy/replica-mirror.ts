import { Ajv, type ValidateFunction } from 'ajv'
import type { CacheEvent, SentPrompt } from '#index/cache-event.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import { ProxyError } from './errors.ts'

interface EngineEvent {
  type: 'stored' | 'evicted' | 'cleared'
  request_id?: string
  cached_tokens?: number
}

/** Body of `POST /v1/replicas/{replica}/events`. */
export interface EventBatch {
  generation: string
  sequence: number
  events: EngineEvent[]
}

/** Body of `POST /v1/replicas/{replica}/snapshot`. */
export interface Snapshot {
  generation: string
  sequence: number
  requests: { request_id: string; cached_tokens: number }[]
}

/** What the sender is told: taken up to a sequence, or what was expected instead. */
export type Acknowledgement = { readonly sequence: number } | { readonly expected: number }

export type MirrorMode = 'exact' | 'degraded' | 'fallback'

/** Where the reports about a replica stand. */
export interface MirrorState {
  readonly mode: MirrorMode
  readonly generation: string | undefined
  readonly sequence: number
}

const ajv = new Ajv()
const sequenced = { generation: { type: 'string', minLength: 1 }, sequence: { type: 'integer', minimum: 0 } }
const cached = { request_id: { type: 'string' }, cached_tokens: { type: 'integer', minimum: 0 } }

const isEventBatch = ajv.compile<EventBatch>({
  type: 'object',
  required: ['generation', 'sequence', 'events'],
  properties: {
    ...sequenced,
    events: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: ['stored', 'evicted', 'cleared'] }, ...cached },
        if: { properties: { type: { const: 'cleared' } } },
        else: { required: ['request_id', 'cached_tokens'] },
      },
    },
  },
})

const isSnapshot = ajv.compile<Snapshot>({
  type: 'object',
  required: ['generation', 'sequence', 'requests'],
  properties: {
    ...sequenced,
    requests: {
      type: 'array',
      items: { type: 'object', required: ['request_id', 'cached_tokens'], properties: cached },
    },
  },
})

/** The receiving end of the callback protocol (CONTRACT §4) for one replica. */
export class ReplicaMirror {
  readonly replica: ReplicaId
  readonly mirror: CacheMirror
  #generation: string | undefined
  readonly #onLost: () => void
  #sequence = 0
  #mode: MirrorMode = 'fallback'
  #snapshot: Promise<void> = Promise.resolve()
  #held: Promise<void> = Promise.resolve()
  readonly #applied = { stored: 0, evicted: 0, cleared: 0, snapshot: 0 }

  /** `onLost`: the engine holds nothing of what it held: it was cleared, or began anew. */
  constructor(replica: ReplicaId, mirror: CacheMirror, onLost: () => void = () => {}) {
    this.replica = replica
    this.mirror = mirror
    this.#onLost = onLost
  }

  /** How many events of each type were applied. */
  get applied(): Readonly<Record<EngineEvent['type'] | 'snapshot', number>> {
    return this.#applied
  }

  /** Where the protocol stands. */
  get state(): MirrorState {
    return { mode: this.#mode, generation: this.#generation, sequence: this.#sequence }
  }

  /** Takes a batch of events; those that arrive while a snapshot is being read wait for it. */
  async takeEvents(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const batch = await body()
    assertShape(batch, isEventBatch)
    await this.#held
    await this.#snapshot
    if (batch.generation !== this.#generation) return { expected: 0 }
    if (batch.sequence <= this.#sequence) return { sequence: batch.sequence }
    if (batch.sequence > this.#sequence + 1) {
      this.#mode = 'degraded'
      return { expected: this.#sequence + 1 }
    }
    this.#sequence = batch.sequence
    this.#mode = 'exact'
    for (const event of batch.events) this.#apply(event)
    return { sequence: batch.sequence }
  }

  /** Takes a snapshot, which replaces the state; one that is older than the state is a repeat and is ignored. */
  async takeSnapshot(body: () => Promise<unknown>): Promise<Acknowledgement> {
    const read = body()
    // a failed snapshot leaves the state as it was, for the events that wait for it too
    this.#snapshot = Promise.allSettled([this.#snapshot, read]).then(dropResults)
    const snapshot = await read
    assertShape(snapshot, isSnapshot)
    await this.#held
    if (snapshot.generation === this.#generation && snapshot.sequence < this.#sequence) {
      return { sequence: this.#sequence }
    }
    if (snapshot.generation !== this.#generation) this.#onLost()
    this.#generation = snapshot.generation
    this.#sequence = snapshot.sequence
    this.#mode = 'exact'
    this.mirror.applySnapshot(
      new Map(snapshot.requests.map(({ request_id, cached_tokens }) => [request_id as RequestId, cached_tokens])),
    )
    this.#applied.snapshot += 1
    return { sequence: snapshot.sequence }
  }

  /** Takes what was gathered from the engine's own events, in place of callbacks. */
  report(event: Exclude<CacheEvent, { type: 'sent' | 'failed' | 'shared' }>): void {
    if (event.type !== 'used') this.#applied[event.type] += 1
    if (event.type === 'cleared') this.clear()
    else this.mirror.apply(event)
  }

  /** A request that runs while the engine is cleared is believed to be held all the same. */
  resend(request: RequestId, prompt: SentPrompt): void {
    this.mirror.apply({ type: 'sent', request, prompt })
  }

  /** Where the engine's own events stand. */
  setState({ mode, generation, sequence }: MirrorState): void {
    this.#mode = mode
    this.#generation = generation
    this.#sequence = sequence
  }

  /** What is reported waits until something has happened, well or badly. */
  hold(until: Promise<unknown>): void {
    this.#held = Promise.allSettled([this.#held, until]).then(dropResults)
  }

  /** Nothing is believed to be cached any more. */
  clear(): void {
    this.#onLost()
    this.mirror.apply({ type: 'cleared' })
  }

  #apply(event: EngineEvent): void {
    this.#applied[event.type] += 1
    if (event.type === 'cleared') this.clear()
    else {
      const { type, request_id, cached_tokens } = event
      this.mirror.apply({ type, request: request_id as RequestId, cachedTokens: cached_tokens! })
    }
  }
}

/** Each result would hold the one before it, and the body of every snapshot with it. */
function dropResults(): void {}

function assertShape<T>(value: unknown, isShape: ValidateFunction<T>): asserts value is T {
  if (isShape(value)) return
  const [error] = isShape.errors!
  throw new ProxyError('invalid_body', `The body${error!.instancePath} ${error!.message}.`)
}
