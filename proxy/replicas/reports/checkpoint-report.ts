import type { SchemaObject } from 'ajv'

/** What an engine says of the checkpoints that layers with windows or states keep of a prefix. */
export interface KeptCheckpoints {
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

const count = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

export const checkpointReport: SchemaObject = {
  type: 'object',
  required: ['unit', 'kinds'],
  if: { not: { required: ['key'] } },
  else: { required: ['room_tokens'] },
  properties: {
    unit: count,
    kinds: { type: 'array', items: { type: 'string' } },
    room_tokens: count,
    key: { type: 'string' },
  },
}
