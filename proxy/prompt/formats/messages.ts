import type { JsonPath } from '../prompt.ts'
import { isObject, isParts, type Json, type PromptBuilder, splitContent } from '../prompt-builder.ts'

/** Anthropic's messages: a system text or parts, and contents that are texts, parts and tool results. */
export function readMessages(body: Json, builder: PromptBuilder): boolean {
  const { system, messages } = body
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) return false
  if (system !== undefined && !isContent(system)) return false
  if (system !== undefined) {
    const { pieces, others } = splitContent(system, ['system'], ['text'])
    builder.message('system', pieces, [withoutTexts(system), ...others])
  }
  for (const [i, message] of messages.entries()) readMessage(message, ['messages', i, 'content'], builder)
  builder.endPrompt([body.model, body.tools, body.cache_salt])
  return true
}

function readMessage(message: Json, path: JsonPath, builder: PromptBuilder): void {
  const { role, content, ...rest } = message
  const parts = isParts(content) ? content : []
  // every tool result is a message of its own: what tools said and what the user says are searched apart
  if (!parts.some(isToolResult)) {
    const { pieces, others } = splitContent(content, path, ['text'])
    builder.message(role as string, pieces, [[rest, withoutTexts(content)], ...others])
    return
  }
  let from = 0
  const flush = (to: number): void => {
    if (to === from) return
    const texts = parts.slice(from, to).flatMap(({ type, text }, i) => {
      return type === 'text' && typeof text === 'string' ? [{ path: [...path, from + i, 'text'], text }] : []
    })
    const others = parts.slice(from, to).filter(({ type, text }) => type !== 'text' || typeof text !== 'string')
    builder.message(role as string, texts, [[rest, withoutTexts(parts.slice(from, to))], ...others])
  }
  for (const [place, part] of parts.entries()) {
    if (!isToolResult(part)) continue
    flush(place)
    from = place + 1
    const { content: result, ...own } = part
    const { pieces, others } = splitContent(result, [...path, place, 'content'], ['text'])
    builder.message('tool', pieces, [[rest, own, withoutTexts(result)], ...others])
  }
  flush(parts.length)
}

/** What text parts carry besides their text, as a cache_control. */
function withoutTexts(content: unknown): unknown[] {
  if (!isParts(content)) return []
  return content.map(({ type, text, ...rest }) => (type === 'text' && typeof text === 'string' ? rest : null))
}

function isToolResult({ type, content }: Json): boolean {
  return type === 'tool_result' && (content === undefined || isContent(content))
}

function isContent(value: unknown): boolean {
  return typeof value === 'string' || isParts(value)
}

function isMessage(value: unknown): value is Json {
  return isObject(value) && typeof value.role === 'string' && isContent(value.content)
}
