import { type CommonBody, common, optional, outputTokens, reader, text } from '../body-schema.ts'

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

/** A responses request; members that are only repeated in the answer are taken as they are. */
export interface ResponsesBody extends CommonBody {
  instructions?: string | null
  input: string | InputItem[]
  max_output_tokens?: number | null
  previous_response_id?: string | null
  tools?: Array<{ type?: string; name?: string; description?: string | null; parameters?: object | null }> | null
  tool_choice?: unknown
  metadata?: object | null
  parallel_tool_calls?: boolean | null
  temperature?: number | null
  top_p?: number | null
}

const content = {
  anyOf: [
    { type: ['string', 'null'] },
    { type: 'array', items: { type: 'object', properties: { type: text, text: optional('string') } } },
  ],
}
const item = {
  type: 'object',
  properties: {
    type: optional('string'),
    role: optional('string'),
    content,
    call_id: optional('string'),
    name: optional('string'),
    arguments: optional('string'),
    output: content,
  },
}
const tool = {
  type: 'object',
  properties: { type: text, name: text, description: optional('string'), parameters: optional('object') },
}

export const readResponsesBody: (body: unknown) => ResponsesBody = reader({
  type: 'object',
  required: ['input'],
  properties: {
    ...common,
    instructions: optional('string'),
    input: { anyOf: [text, { type: 'array', minItems: 1, items: item }] },
    max_output_tokens: outputTokens,
    previous_response_id: optional('string'),
    tools: optional('array', { items: tool }),
    metadata: optional('object'),
    parallel_tool_calls: optional('boolean'),
    temperature: optional('number'),
    top_p: optional('number'),
  },
})
