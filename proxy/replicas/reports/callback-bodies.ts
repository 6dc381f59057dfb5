import { Ajv, type SchemaObject } from 'ajv'
import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { Checkpoint } from '#index/mirror/checkpoints.ts'
import { ProxyError } from '../../common/errors.ts'
import { ownSchemas } from '../../common/json/json-value.ts'

/** One change reported by an engine. */
export interface EngineEvent {
  readonly type: 'stored' | 'evicted' | 'cleared'
  readonly request_id?: string
  readonly cached_tokens?: number
  /** tokens of a request that were found at another position, and recomputed */
  readonly recomputed_tokens?: number
  /** the only lengths of a request that others find, if layers with windows or states keep no others */
  readonly checkpoints?: readonly Checkpoint[]
}

/** Body of `POST /v1/replicas/{replica}/events`. */
export interface EventBatch {
  readonly generation: string
  readonly sequence: number
  readonly events: readonly EngineEvent[]
}

/** What an engine says of the checkpoints that layers with windows or states keep of a prefix. */
interface KeptCheckpoints {
  /** tokens: checkpoints lie at multiples of it */
  readonly unit: number
  /** `window`, `state` */
  readonly kinds: readonly string[]
}

/** An engine that also keeps checkpoints at borders that requests name. */
export interface CheckpointReport extends KeptCheckpoints {
  /** how many cached tokens take the memory of one checkpoint */
  readonly room_tokens: number
  /** sent along with borders, so that its plugin knows that they are ours */
  readonly key: string
}

/** A report in which only what is off is left out. */
export type KnownReuse = AnyPositionReuse & Required<Pick<AnyPositionReuse, 'min_ratio'>>

/** Body of `POST /v1/replicas/{replica}/snapshot`. */
export interface Snapshot extends Omit<EventBatch, 'events'> {
  readonly requests: readonly (Required<Pick<EngineEvent, 'request_id' | 'cached_tokens'>> &
    Pick<EngineEvent, 'checkpoints'>)[]
  readonly reuse?: AnyPositionReuse | null
  readonly checkpoints?: CheckpointReport | KeptCheckpoints | null
}

const ajv = new Ajv({ ...ownSchemas, $data: true })
/** Above this maximum, different integers may parse to the same number. */
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const sequenced = { generation: { type: 'string', minLength: 1 }, sequence: count }
const cached = {
  request_id: { type: 'string' },
  cached_tokens: count,
  checkpoints: {
    type: 'array',
    items: { anyOf: [count, { type: 'array', items: count, minItems: 2, maxItems: 2 }] },
  },
}
const reused = { reused_tokens: count, recomputed_tokens: count }

/** Senders report the GPU's cache. If they name a tier, it is validated but otherwise ignored. */
const tier = { enum: ['gpu', 'cpu', 'disk'] }

export const eventBatch: SchemaObject = {
  type: 'object',
  required: ['generation', 'sequence', 'events'],
  properties: {
    ...sequenced,
    events: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: ['stored', 'evicted', 'cleared'] }, tier, ...cached, ...reused },
        // most events pass this first check, so no error is created for them
        if: { required: ['request_id', 'cached_tokens'] },
        else: {
          if: { properties: { type: { const: 'cleared' } } },
          else: { required: ['request_id', 'cached_tokens'] },
        },
      },
    },
  },
}

const positive = { ...count, minimum: 1 }

const checkpointReport: SchemaObject = {
  type: 'object',
  required: ['unit', 'kinds'],
  if: { not: { required: ['key'] } },
  else: { required: ['room_tokens'] },
  properties: {
    unit: positive,
    kinds: { type: 'array', items: { type: 'string' } },
    room_tokens: positive,
    key: { type: 'string' },
  },
}

const share = { type: 'number', minimum: 0, maximum: 1 }

/** How an engine reuses KV at any position. */
export const reuseReport: SchemaObject = {
  type: 'object',
  required: ['ratio', 'max_ratio'],
  properties: {
    ratio: { ...share, allOf: [{ minimum: { $data: '1/min_ratio' }, maximum: { $data: '1/max_ratio' } }] },
    min_ratio: share,
    max_ratio: share,
    users: { type: 'boolean' },
    question: { type: 'boolean' },
    remote: { type: 'boolean' },
  },
}

/** The schema of a `Snapshot`; compile it with `$data`. */
export const snapshot: SchemaObject = {
  type: 'object',
  required: ['generation', 'sequence', 'requests'],
  properties: {
    ...sequenced,
    requests: {
      type: 'array',
      items: { type: 'object', required: ['request_id', 'cached_tokens'], properties: cached },
    },
    reuse: { ...reuseReport, nullable: true },
    checkpoints: { ...checkpointReport, nullable: true },
  },
}

/** Returns a body as a batch of events. Throws a `ProxyError` that says what is wrong with it. */
export function toEventBatch(body: unknown): EventBatch {
  return checked<EventBatch>(body, eventBatch)
}

/** Returns a body as a snapshot. Throws a `ProxyError` that says what is wrong with it. */
export function toSnapshot(body: unknown): Snapshot {
  return checked<Snapshot>(body, snapshot)
}

/** Returns whether a value is a valid report of reuse at any position. */
export function isReuseReport(value: unknown): value is AnyPositionReuse {
  return ajv.validate(reuseReport, value)
}

/** Returns what is known of such a report, without what is off. */
export function knownOf({ ratio, min_ratio = 0, max_ratio, users, question, remote }: AnyPositionReuse): KnownReuse {
  const also = { ...(users && { users }), ...(question && { question }), ...(remote && { remote }) }
  return { ratio, min_ratio, max_ratio, ...also }
}

function checked<T>(value: unknown, schema: SchemaObject): T {
  if (ajv.validate<T>(schema, value)) return value
  const [error] = ajv.errors!
  throw new ProxyError('invalid_body', `The body${error!.instancePath} ${error!.message}.`)
}
