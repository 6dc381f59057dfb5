import type { ResponsesBody } from './responses-body.ts'

interface ResponseUsage {
  input_tokens: number
  input_tokens_details: { cached_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** What is known about a response before anything is generated. */
export interface ResponseHead {
  id: string
  created: number
  maximum: number
  body: ResponsesBody
}

/** An event of a stream; its type is also its SSE event name. It is numbered when it is sent. */
export interface ResponseEvent {
  type: string
}

export function toResponseUsage(promptTokens: number, completionTokens: number, cachedTokens: number): ResponseUsage {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  }
}

/** A response in any state, with the requested settings. */
export function toResponse(
  { id, created, maximum, body }: ResponseHead,
  status: 'in_progress' | 'completed' | 'incomplete',
  output: object[] = [],
  usage: ResponseUsage | null = null,
): object {
  return {
    id,
    created_at: created,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? null,
    model: body.model,
    object: 'response',
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    temperature: body.temperature ?? 1,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    background: false,
    max_output_tokens: maximum,
    previous_response_id: null,
    service_tier: 'auto',
    status,
    truncation: 'disabled',
    usage,
  }
}

/** The message that is a response's only output. */
export function toOutputItem(id: string, text?: string): object {
  const content = text === undefined ? [] : [outputText(text)]
  return { id, content, role: 'assistant', status: text === undefined ? 'in_progress' : 'completed', type: 'message' }
}

/** The events before the first piece of text. */
export function openingEvents(itemId: string): ResponseEvent[] {
  const at = { content_index: 0, item_id: itemId, output_index: 0 }
  return [
    event('response.output_item.added', { item: toOutputItem(itemId), output_index: 0 }),
    event('response.content_part.added', { ...at, part: outputText('') }),
  ]
}

/** The event for a piece of text. */
export function textEvent(itemId: string, delta: string): ResponseEvent {
  const at = { content_index: 0, item_id: itemId, output_index: 0 }
  return event('response.output_text.delta', { ...at, delta, logprobs: [] })
}

/** The events after the last piece of text. */
export function closingEvents(itemId: string, text: string): ResponseEvent[] {
  const at = { content_index: 0, item_id: itemId, output_index: 0 }
  return [
    event('response.output_text.done', { ...at, logprobs: [], text }),
    event('response.content_part.done', { ...at, part: outputText(text) }),
    event('response.output_item.done', { item: toOutputItem(itemId, text), output_index: 0 }),
  ]
}

/** An event about the response itself. */
export function responseEvent(type: string, response: object): ResponseEvent {
  return event(type, { response })
}

function outputText(text: string): object {
  return { annotations: [], text, type: 'output_text', logprobs: [] }
}

function event(type: string, members: object): ResponseEvent {
  return { ...members, type }
}
