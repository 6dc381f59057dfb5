import { Ajv } from 'ajv'
import { invalidBody } from './engine-error.ts'
import type { TransferParams } from './read-wish.ts'

/** The members that the emulator reads from any request; it ignores all others, as the engines do. */
export interface CommonBody {
  /** Which model answers, if there are several. */
  model?: string | null
  cache_salt?: string | null
  /** vLLM; the header X-Request-Id takes precedence. */
  request_id?: string | null
  /** SGLang. */
  rid?: string | null
  /** vLLM: a request's wishes for the KV connector. */
  kv_transfer_params?: TransferParams | null
  /** vLLM: arguments for the logits processors. */
  vllm_xargs?: { reprise_pages?: unknown } | null
  stream?: boolean | null
}

/** The schema of a member that may be null. */
export const optional = (type: string, more: object = {}): object => ({ type: [type, 'null'], ...more })

/** The schema of a text. */
export const text: object = { type: 'string' }

/** The schema of a limit of output tokens. */
export const outputTokens: object = optional('integer', { minimum: 1 })

/** The schemas of the members of a CommonBody. */
export const common: Record<string, object> = {
  model: optional('string'),
  cache_salt: optional('string'),
  request_id: optional('string'),
  rid: optional('string'),
  kv_transfer_params: optional('object'),
  vllm_xargs: optional('object'),
  stream: optional('boolean'),
}

const ajv = new Ajv({ allowUnionTypes: true })

/** Makes a function that returns a body unchanged if it matches the schema. Otherwise it throws the engine's 400. */
export function reader<T>(schema: object): (body: unknown) => T {
  const validate = ajv.compile<T>(schema)
  return (body) => {
    if (validate(body)) return body
    const error = validate.errors?.at(-1)
    throw invalidBody(`body${error?.instancePath.replaceAll('/', '.')}: ${error?.message}`)
  }
}
