import { Ajv } from 'ajv'
import type { ChatPrompt } from '../text/chat-template.ts'
import { invalidBody } from './engine-error.ts'

/** The members that the emulator reads from a request besides its prompt; it ignores all others, as the engines do. */
export interface Body {
  /** Which model answers, if there are several. */
  model?: string | null
  cache_salt?: string | null
  /** vLLM; the header X-Request-Id takes precedence. */
  request_id?: string | null
  /** SGLang. */
  rid?: string | null
  /** vLLM: a request's wishes for the KV connector. */
  kv_transfer_params?: { reprise?: unknown } | null
  stream?: boolean | null
  stream_options?: { include_usage?: boolean | null } | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  max_output_tokens?: number | null
  n?: number | null
  /** vLLM: log probabilities of so many tokens in each place of the prompt; 0: of its own ones */
  prompt_logprobs?: number | null
  return_tokens_as_token_ids?: boolean | null
  /** SGLang's own API */
  sampling_params?: { max_new_tokens?: number | null } | null
  return_logprob?: boolean | null
  /** the token of the prompt behind which log probabilities are wanted; -1: none */
  logprob_start_len?: number | null
}

/** One prompt, as a text or as token ids, or a list of them. */
export type Prompts = string | string[] | number[] | number[][]

interface CompletionBody extends Body {
  prompt: Prompts
  /** the likeliest tokens in each place of the answer */
  logprobs?: number | null
}

export interface GenerateBody extends Body {
  text?: string | string[] | null
  input_ids?: number[] | number[][] | null
}

/** One item of a response's input; which members it has depends on its type. */
export interface InputItem {
  type?: string | null
  role?: string | null
  content?: string | Array<{ type?: string; text?: string | null }> | null
  call_id?: string | null
  name?: string | null
  arguments?: string | null
  output?: string | Array<{ type?: string; text?: string | null }> | null
}

export interface ResponsesBody extends Body {
  instructions?: string | null
  input: string | InputItem[]
  previous_response_id?: string | null
  tools?: Array<{ type?: string; name?: string; description?: string | null; parameters?: object | null }> | null
  /** what is only repeated in the answer, as it is */
  [repeated: string]: unknown
}

/** One block of a message's content in Anthropic's API. */
export interface MessageBlock {
  type: string
  text?: string | null
  source?: { url?: string; media_type?: string; data?: string } | null
  id?: string | null
  name?: string | null
  input?: object | null
  content?: string | MessageBlock[] | null
}

/** The parts of a messages request that form its prompt. */
export interface CountTokensBody {
  system?: string | MessageBlock[] | null
  messages: Array<{ role: 'user' | 'assistant' | 'system'; content: string | MessageBlock[] }>
  tools?: Array<{ name: string; description?: string | null; input_schema: object }> | null
}

export interface MessagesBody extends CountTokensBody, Body {
  max_tokens: number
}

/** Whether `prompts` is a list of prompts, even a list of one. */
export function isBatch(prompts: Prompts): boolean {
  return typeof prompts !== 'string' && typeof prompts[0] !== 'number'
}

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const limit: Schema = { type: ['integer', 'null'], minimum: 1 }
const optional = (type: string, more: Schema = {}): Schema => ({ type: [type, 'null'], ...more })
const optionals = (type: string, ...names: string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, optional(type)]))
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const object = (properties: Schema, ...required: string[]): Schema => ({ type: 'object', required, properties })
const textOr = (schema: Schema): Schema => ({ anyOf: [optional('string'), schema] })

const tokens = list({ type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 })
const several = { minItems: 1, maxItems: 1024 }
const textPrompts = { anyOf: [text, list(text, several)] }
const tokenPrompts = { anyOf: [{ ...tokens, minItems: 1 }, list(tokens, several)] }

const members = {
  ...optionals('string', 'model', 'cache_salt', 'request_id', 'rid'),
  ...optionals('object', 'kv_transfer_params'),
  ...optionals('boolean', 'stream', 'return_tokens_as_token_ids', 'return_logprob'),
  stream_options: optional('object', { properties: optionals('boolean', 'include_usage') }),
  max_tokens: limit,
  max_completion_tokens: limit,
  max_output_tokens: limit,
  n: { ...limit, maximum: 128 },
  prompt_logprobs: optional('integer', { minimum: -1 }),
  sampling_params: optional('object', { properties: { max_new_tokens: limit } }),
  logprob_start_len: optional('integer', { minimum: -1 }),
}
const part = object({ type: text, ...optionals('string', 'text') })
const chat = {
  messages: list(object({ role: text, content: textOr(list({ anyOf: [text, part] })) }, 'role'), { minItems: 1 }),
  ...optionals('array', 'tools', 'documents'),
  ...optionals('boolean', 'continue_final_message', 'add_generation_prompt'),
}

const ajv = new Ajv({ allowUnionTypes: true, code: { optimize: false } })

/** Makes a function that returns a body unchanged if it matches the schema. Otherwise it throws the engine's 400. */
function reader<T>(prompt: Schema, required: readonly string[] = [], more: Schema = {}): (body: unknown) => T {
  const schema = { ...object({ ...members, ...prompt }, ...required), ...more }
  // compiled when it is first used
  return (body) => {
    if (ajv.validate<T>(schema, body)) return body
    const error = ajv.errors?.at(-1)
    throw invalidBody(`body${error?.instancePath.replaceAll('/', '.')}: ${error?.message}`)
  }
}

export const readChatBody: (body: unknown) => Body & ChatPrompt = reader(chat, ['messages'])

export const readCompletionBody: (body: unknown) => CompletionBody = reader(
  { prompt: { anyOf: [textPrompts, tokenPrompts] }, logprobs: optional('integer', { minimum: 0 }) },
  ['prompt'],
)

export const readGenerateBody: (body: unknown) => GenerateBody = reader({}, [], {
  anyOf: [object({ text: textPrompts }, 'text'), object({ input_ids: tokenPrompts }, 'input_ids')],
})

type TokenizeBody = ({ prompt: string } | ChatPrompt) & { return_token_strs?: boolean | null }

export const readTokenizeBody: (body: unknown) => TokenizeBody = reader(optionals('boolean', 'return_token_strs'), [], {
  anyOf: [object({ prompt: text }, 'prompt'), object(chat, 'messages')],
})

const item = object({
  ...optionals('string', 'type', 'role', 'call_id', 'name', 'arguments'),
  content: textOr(list(part)),
  output: textOr(list(part)),
})
const functionTool = object({
  ...{ type: text, name: text },
  ...optionals('string', 'description'),
  ...optionals('object', 'parameters'),
})

export const readResponsesBody: (body: unknown) => ResponsesBody = reader(
  {
    ...optionals('string', 'instructions', 'previous_response_id'),
    input: { anyOf: [text, list(item, { minItems: 1 })] },
    tools: optional('array', { items: functionTool }),
  },
  ['input'],
)

const blockTypes = ['text', 'image', 'tool_use', 'tool_result', 'tool_reference', 'thinking', 'redacted_thinking']
const blockMembers = {
  ...optionals('string', 'text'),
  source: optional('object', { properties: { url: text, media_type: text, data: text } }),
}
const block = object(
  {
    type: { enum: blockTypes },
    ...blockMembers,
    ...optionals('string', 'id', 'name'),
    ...optionals('object', 'input'),
    content: textOr(list(object({ type: text, ...blockMembers }))),
  },
  'type',
)
const message = object(
  { role: { enum: ['user', 'assistant', 'system'] }, content: { anyOf: [text, list(block)] } },
  'role',
  'content',
)
const counted = {
  model: { ...text, minLength: 1 },
  system: textOr(list(block)),
  messages: list(message, { minItems: 1 }),
  tools: optional('array', { items: object({ name: text, input_schema: { type: 'object' } }, 'name', 'input_schema') }),
}

export const readCountTokensBody: (body: unknown) => CountTokensBody = reader(counted, ['model', 'messages'])

export const readMessagesBody: (body: unknown) => MessagesBody = reader(
  {
    ...counted,
    // unlike in OpenAI's APIs, it must not be null
    max_tokens: { ...limit, type: 'integer' },
    cache_salt: optional('string', { minLength: 1, maxLength: 1024 }),
  },
  ['model', 'messages', 'max_tokens'],
)
