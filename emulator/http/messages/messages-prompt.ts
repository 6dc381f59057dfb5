import type { ChatMessage, ChatPrompt, ContentPart } from '../../text/chat-template.ts'
import type { EngineKind } from '../engine-error.ts'
import type { AnthropicMessage, CountTokensBody, MessageBlock } from './messages-body.ts'

/** Claude Code's line with a hash per request, which vLLM removes */
const attribution = 'x-anthropic-billing-header'

/** The chat that an engine builds from a messages request before it renders the prompt: equal chats, equal prefixes. */
export function toMessagesChat(kind: EngineKind, { system, messages, tools }: CountTokensBody): ChatPrompt {
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

function convert(kind: EngineKind, { role, content }: AnthropicMessage): ChatMessage[] {
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
