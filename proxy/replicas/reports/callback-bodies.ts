import { Ajv, type SchemaObject } from 'ajv'
import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { Checkpoint } from '#index/mirror/checkpoints.ts'
import { ProxyError } from '../../common/errors.ts'
import { ownSchemas } from '../../common/json/json-value.ts'
import { type CheckpointReport, checkpointReport, type KeptCheckpoints } from './checkpoint-report.ts'
import { reuseReport } from './reuse-report.ts'

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

/** Body of `POST /v1/replicas/{replica}/snapshot`. */
export interface Snapshot {
  readonly generation: string
  readonly sequence: number
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

function checked<T>(value: unknown, schema: SchemaObject): T {
  if (ajv.validate<T>(schema, value)) return value
  const [error] = ajv.errors!
  throw new ProxyError('invalid_body', `The body${error!.instancePath} ${error!.message}.`)
}
