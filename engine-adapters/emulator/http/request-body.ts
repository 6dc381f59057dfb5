import { Ajv } from 'ajv'
import type { ChatPrompt } from '../text/chat-template.ts'
import { invalidBody } from './engine-error.ts'

/** What the emulator reads of any request; all else is ignored, as the engines do. */
export interface CommonBody {
  cache_salt?: string | null
  /** vLLM; its header X-Request-Id comes first. */
  request_id?: string | null
  /** SGLang. */
  rid?: string | null
  stream?: boolean | null
}

export interface OpenAiBody extends CommonBody {
  max_tokens?: number | null
  max_completion_tokens?: number | null
  n?: number | null
  stream_options?: { include_usage?: boolean | null } | null
}

export type ChatBody = OpenAiBody & ChatPrompt

export interface CompletionBody extends OpenAiBody {
  prompt: string | string[] | number[] | number[][]
}

export interface GenerateBody extends CommonBody {
  text?: string | null
  input_ids?: number[] | null
  sampling_params?: { max_new_tokens?: number | null } | null
}

export type TokenizeBody = { prompt: string } | ChatPrompt

const optional = (type: string, more: object = {}): object => ({ type: [type, 'null'], ...more })
const text = { type: 'string' }
const tokens = { type: 'array', items: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } }
const outputTokens = optional('integer', { minimum: 1 })

const common = {
  cache_salt: optional('string'),
  request_id: optional('string'),
  rid: optional('string'),
  stream: optional('boolean'),
}
const openAi = {
  ...common,
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  n: optional('integer', { minimum: 1, maximum: 128 }),
  stream_options: optional('object', { properties: { include_usage: optional('boolean') } }),
}
const part = { type: 'object', properties: { type: text, text: optional('string') } }
const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: text,
    content: { anyOf: [{ type: ['string', 'null'] }, { type: 'array', items: { anyOf: [text, part] } }] },
  },
}
const chat = {
  messages: { type: 'array', minItems: 1, items: message },
  tools: optional('array'),
  documents: optional('array'),
}

const ajv = new Ajv({ allowUnionTypes: true })

/** Makes a function that returns a body as it came if it has the expected shape and throws the engine's 400 if not. */
function reader<T>(schema: object): (body: unknown) => T {
  const validate = ajv.compile<T>(schema)
  return (body) => {
    if (validate(body)) return body
    const error = validate.errors?.at(-1)
    throw invalidBody(`body${error?.instancePath.replaceAll('/', '.')}: ${error?.message}`)
  }
}

export const readChatBody: (body: unknown) => ChatBody = reader({
  type: 'object',
  required: ['messages'],
  properties: { ...openAi, ...chat },
})

export const readCompletionBody: (body: unknown) => CompletionBody = reader({
  type: 'object',
  required: ['prompt'],
  properties: {
    ...openAi,
    prompt: {
      anyOf: [
        text,
        { ...tokens, minItems: 1 },
        { type: 'array', minItems: 1, maxItems: 1024, items: text },
        { type: 'array', minItems: 1, maxItems: 1024, items: tokens },
      ],
    },
  },
})

export const readGenerateBody: (body: unknown) => GenerateBody = reader({
  type: 'object',
  anyOf: [
    { required: ['text'], properties: { text } },
    { required: ['input_ids'], properties: { input_ids: tokens } },
  ],
  properties: {
    ...common,
    text: optional('string'),
    input_ids: optional('array', { items: tokens.items }),
    sampling_params: optional('object', { properties: { max_new_tokens: outputTokens } }),
  },
})

export const readTokenizeBody: (body: unknown) => TokenizeBody = reader({
  type: 'object',
  anyOf: [
    { required: ['prompt'], properties: { prompt: text } },
    { required: ['messages'], properties: chat },
  ],
})
