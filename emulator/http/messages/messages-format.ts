/** Why a message ended, in Anthropic's terms. */
export type StopReason = 'end_turn' | 'max_tokens'

/** Anthropic's counts: the input tokens exclude those read from the cache. */
interface MessageUsage {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens?: number
}

/** An event of a stream; its type is also its SSE event name. */
export interface MessageEvent {
  type: string
}

export function toMessageUsage(promptTokens: number, completionTokens: number, cachedTokens: number): MessageUsage {
  return {
    input_tokens: promptTokens - cachedTokens,
    output_tokens: completionTokens,
    cache_read_input_tokens: cachedTokens,
  }
}

/** What answer and stream begin with. */
export interface MessageHead {
  readonly id: string
  readonly model: string
}

/** A whole answer. */
export function toMessage(
  { id, model }: MessageHead,
  text: string,
  stopReason: StopReason,
  usage: MessageUsage,
): object {
  const content = [{ type: 'text', text }]
  return { id, type: 'message', role: 'assistant', content, model, stop_reason: stopReason, usage }
}

/** The events before the first piece of text. Cached tokens are reported only at the end, so all input counts here. */
export function openingEvents({ id, model }: MessageHead, promptTokens: number): MessageEvent[] {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    content: [],
    model,
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: promptTokens, output_tokens: 0 },
  }
  const start = { type: 'content_block_start', content_block: { type: 'text', text: '' }, index: 0 }
  return [{ type: 'message_start', message } as MessageEvent, start]
}

/** The event for a piece of text. */
export function textEvent(text: string): MessageEvent {
  const event = { type: 'content_block_delta', delta: { type: 'text_delta', text }, index: 0 }
  return event
}

/** The events after the last piece of text. */
export function closingEvents(stopReason: StopReason, usage: MessageUsage): MessageEvent[] {
  const stop = { type: 'content_block_stop', index: 0 }
  const delta = { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage }
  return [stop, delta, { type: 'message_stop' }]
}
