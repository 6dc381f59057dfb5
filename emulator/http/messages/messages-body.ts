import { type CommonBody, optional, outputTokens, reader, text } from '../body-schema.ts'

/** One block of a message's content in Anthropic's API. */
export interface MessageBlock {
  type: string
  text?: string | null
  source?: { type?: string; url?: string; media_type?: string; data?: string } | null
  id?: string | null
  tool_use_id?: string | null
  name?: string | null
  input?: object | null
  content?: string | MessageBlock[] | null
}

export interface AnthropicMessage {
  role: 'user' | 'assistant' | 'system'
  content: string | MessageBlock[]
}

/** The parts of a messages request that form its prompt. */
export interface CountTokensBody {
  system?: string | MessageBlock[] | null
  messages: AnthropicMessage[]
  tools?: Array<{ name: string; description?: string | null; input_schema: object }> | null
}

export interface MessagesBody
  extends CountTokensBody,
    Pick<CommonBody, 'model' | 'cache_salt' | 'kv_transfer_params' | 'stream'> {
  max_tokens: number
}

const blockTypes = ['text', 'image', 'tool_use', 'tool_result', 'tool_reference', 'thinking', 'redacted_thinking']
const source = optional('object', { properties: { type: text, url: text, media_type: text, data: text } })
const innerBlock = {
  type: 'object',
  properties: { type: text, text: optional('string'), source },
}
const block = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: blockTypes },
    text: optional('string'),
    source,
    id: optional('string'),
    tool_use_id: optional('string'),
    name: optional('string'),
    input: optional('object'),
    content: { anyOf: [{ type: ['string', 'null'] }, { type: 'array', items: innerBlock }] },
  },
}
const content = { anyOf: [text, { type: 'array', items: block }] }
const tool = {
  type: 'object',
  required: ['name', 'input_schema'],
  properties: { name: text, description: optional('string'), input_schema: { type: 'object' } },
}
const counted = {
  model: { ...text, minLength: 1 },
  system: { anyOf: [{ type: ['string', 'null'] }, { type: 'array', items: block }] },
  messages: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['role', 'content'],
      properties: { role: { enum: ['user', 'assistant', 'system'] }, content },
    },
  },
  tools: optional('array', { items: tool }),
}

export const readCountTokensBody: (body: unknown) => CountTokensBody = reader({
  type: 'object',
  required: ['model', 'messages'],
  properties: counted,
})

export const readMessagesBody: (body: unknown) => MessagesBody = reader({
  type: 'object',
  required: ['model', 'messages', 'max_tokens'],
  properties: {
    ...counted,
    // unlike in OpenAI's APIs, it must not be null
    max_tokens: { ...outputTokens, type: 'integer' },
    cache_salt: optional('string', { minLength: 1, maxLength: 1024 }),
    kv_transfer_params: optional('object'),
    stream: optional('boolean'),
  },
})
