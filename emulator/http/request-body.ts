import type { ChatPrompt } from '../text/chat-template.ts'
import { type CommonBody, common, optional, outputTokens, reader, text } from './body-schema.ts'

export interface OpenAiBody extends CommonBody {
  max_tokens?: number | null
  max_completion_tokens?: number | null
  n?: number | null
  /** vLLM: log probabilities of so many tokens in each place of the prompt; 0: of its own ones */
  prompt_logprobs?: number | null
  stream_options?: { include_usage?: boolean | null } | null
}

type ChatBody = OpenAiBody & ChatPrompt

/** One prompt, as a text or as token ids, or a list of them. */
export type Prompts = string | string[] | number[] | number[][]

interface CompletionBody extends OpenAiBody {
  prompt: Prompts
  /** the likeliest tokens in each place of the answer */
  logprobs?: number | null
  return_tokens_as_token_ids?: boolean | null
}

export interface GenerateBody extends CommonBody {
  text?: string | string[] | null
  input_ids?: number[] | number[][] | null
  sampling_params?: { max_new_tokens?: number | null } | null
  return_logprob?: boolean | null
  /** the token of the prompt behind which log probabilities are wanted; -1: none */
  logprob_start_len?: number | null
}

type TokenizeBody = ({ prompt: string } | ChatPrompt) & { return_token_strs?: boolean | null }

/** Whether `prompts` is a list of prompts, even a list of one. */
export function isBatch(prompts: Prompts): boolean {
  return typeof prompts !== 'string' && typeof prompts[0] !== 'number'
}

const tokens = { type: 'array', items: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } }
const textPrompts = [text, { type: 'array', minItems: 1, maxItems: 1024, items: text }]
const tokenPrompts = [
  { ...tokens, minItems: 1 },
  { type: 'array', minItems: 1, maxItems: 1024, items: tokens },
]
const openAi = {
  ...common,
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  n: optional('integer', { minimum: 1, maximum: 128 }),
  prompt_logprobs: optional('integer', { minimum: -1 }),
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
  continue_final_message: optional('boolean'),
  add_generation_prompt: optional('boolean'),
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
    prompt: { anyOf: [...textPrompts, ...tokenPrompts] },
    logprobs: optional('integer', { minimum: 0 }),
    return_tokens_as_token_ids: optional('boolean'),
  },
})

export const readGenerateBody: (body: unknown) => GenerateBody = reader({
  type: 'object',
  anyOf: [
    { required: ['text'], properties: { text: { anyOf: textPrompts } } },
    { required: ['input_ids'], properties: { input_ids: { anyOf: tokenPrompts } } },
  ],
  properties: {
    ...common,
    sampling_params: optional('object', { properties: { max_new_tokens: outputTokens } }),
    return_logprob: optional('boolean'),
    logprob_start_len: optional('integer', { minimum: -1 }),
  },
})

export const readTokenizeBody: (body: unknown) => TokenizeBody = reader({
  type: 'object',
  properties: { return_token_strs: optional('boolean') },
  anyOf: [
    { required: ['prompt'], properties: { prompt: text } },
    { required: ['messages'], properties: chat },
  ],
})
