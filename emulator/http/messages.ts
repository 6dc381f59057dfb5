import type { ChatMessage, ChatPrompt, ContentPart } from '../text/chat-template.ts'
import type { Answer, Output } from './answer.ts'
import {
  type CountTokensBody,
  type MessageBlock,
  type MessagesBody,
  readCountTokensBody,
  readMessagesBody,
} from './bodies.ts'
import type { EngineKind } from './engine-error.ts'
import { type Call, sendJson } from './http-server.ts'
import { defaultOutputTokens, type PromptReader } from './prompt-reader.ts'

/** Anthropic's `POST /v1/messages/count_tokens`, as both engines implement it. */
export function countTokens(reader: PromptReader, { body, response }: Call): void {
  const tokens = reader.chat(toMessagesChat(reader.kind, readCountTokensBody(body))).length
  const more = reader.kind === 'vllm' ? { context_management: { original_input_tokens: tokens } } : {}
  sendJson(response, { input_tokens: tokens, ...more })
}

/** Anthropic's `POST /v1/messages`, as both engines implement it. */
export function answerMessage(reader: PromptReader, call: Call): Answer {
  const body: MessagesBody = readMessagesBody(call.body)
  const isVllm = reader.kind === 'vllm'
  const name = reader.requestId(isVllm ? call.headers : {}, {})
  const prompt = reader.chat(toMessagesChat(reader.kind, body))
  // SGLang converts it to a chat request and drops the members it does not know: `rid` and `cache_salt`
  const request = reader.request(name, isVllm ? body : { model: body.model ?? null }, prompt, body.max_tokens)
  // every request has a limit in this API, even if a short answer is expected
  const outputTokens = request.text ? request.outputTokens : Math.min(request.outputTokens, defaultOutputTokens)
  const isCut = request.text ? request.reason === 'length' : outputTokens === body.max_tokens
  const stop = { stop_reason: isCut ? 'max_tokens' : 'end_turn' }
  const id = isVllm ? `chatcmpl-${name}` : `msg_${name}`
  const message = { id, type: 'message', role: 'assistant', model: reader.model(body) }
  // the input tokens exclude those read from the cache
  const usageOf = ([output]: readonly Output[]): object => ({
    input_tokens: prompt.length - output!.cachedTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: output!.cachedTokens,
  })
  const begun = {
    ...message,
    content: [],
    ...{ stop_reason: null, stop_sequence: null },
    // cached tokens are reported only at the end, so all input counts here
    usage: { input_tokens: prompt.length, output_tokens: 0 },
  }
  const opening = [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', content_block: { type: 'text', text: '' }, index: 0 },
  ]
  return {
    requests: [{ ...request, outputTokens }],
    isStream: body.stream ?? false,
    earlyHeaders: isVllm,
    isNamed: true,
    pieces: (text, { index }) => [
      ...(index === 0 ? opening : []),
      { type: 'content_block_delta', delta: { type: 'text_delta', text }, index: 0 },
    ],
    closing: (outputs) => [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { ...stop, stop_sequence: null }, usage: usageOf(outputs) },
      { type: 'message_stop' },
    ],
    whole: (outputs) => ({
      ...message,
      content: [{ type: 'text', text: outputs[0]!.text }],
      ...stop,
      usage: usageOf(outputs),
    }),
  }
}

/** Claude Code's line with a hash per request, which vLLM removes */
const attribution = 'x-anthropic-billing-header'

/** The chat that an engine builds from a messages request before it renders the prompt: equal chats, equal prefixes. */
function toMessagesChat(kind: EngineKind, { system, messages, tools }: CountTokensBody): ChatPrompt {
  const head = joinSystem(kind, system ?? '')
  return {
    messages: [
      ...(head ? [{ role: 'system', content: head }] : []),
      ...messages.flatMap((message) => convert(kind, message)),
    ],
    tools: (tools ?? []).map(({ name, description, input_schema: parameters }) => {
      return { type: 'function', function: { name, ...(description == null ? {} : { description }), parameters } }
    }),
  }
}

/** vLLM concatenates the parts of a system text as they are; SGLang puts each on a separate line. */
function joinSystem(kind: EngineKind, content: string | MessageBlock[]): string {
  if (typeof content === 'string') return content
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text ? [text] : []))
  if (kind === 'sglang') return texts.join('\n')
  return texts.filter((text) => !text.startsWith(attribution)).join('')
}

function convert(kind: EngineKind, { role, content }: CountTokensBody['messages'][number]): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  if (role === 'system') {
    const text = joinSystem(kind, content)
    return text ? [{ role, content: text }] : []
  }
  if (role === 'assistant') return [toAssistant(content)]
  const converted: ChatMessage[] = []
  let parts: ContentPart[] = []
  const flush = (): void => {
    if (parts.length > 0) converted.push({ role, content: parts })
    parts = []
  }
  for (const block of content) {
    // SGLang keeps the order; vLLM puts all results before the rest of the user's message
    if (block.type === 'tool_result' && kind === 'sglang') flush()
    if (block.type === 'tool_result') converted.push({ role: 'tool', content: toResult(kind, block) })
    else parts.push(...toParts(block))
  }
  flush()
  return converted
}

function toAssistant(content: MessageBlock[]): ChatMessage {
  const calls = content.flatMap(({ type, id, name, input }) => {
    if (type !== 'tool_use') return []
    return [{ id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } }]
  })
  return { role: 'assistant', content: content.flatMap(toParts), ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function toResult(kind: EngineKind, { content }: MessageBlock): string | ContentPart[] {
  if (typeof content === 'string' || !content) return content ?? ''
  if (kind === 'sglang') return content.flatMap(toParts)
  return content.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : [])).join('\n')
}

/** The parts of a block that the model sees unchanged; thinking of earlier turns is not among them. */
function toParts({ type, text, source }: MessageBlock): ContentPart[] {
  if (type === 'text' && text) return [{ type, text }]
  if (type !== 'image' || !source) return []
  const { url, media_type = 'image/jpeg', data = '' } = source
  const image = { type: 'image_url', image_url: { url: url ?? `data:${media_type};base64,${data}` } }
  return [image]
}
