import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { JsonPath } from '../../common/json/json-value.ts'
import {
  hasOwnMembers,
  isParts,
  type PromptBuilder,
  splitContent,
  unmarked,
  unmarkedTools,
} from '../body/prompt-builder.ts'

/** Reads Anthropic's messages: a system text or parts, and contents that are texts, parts and tool results. */
export function readMessages(body: Json, builder: PromptBuilder): boolean {
  const { system, messages } = body
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) return false
  if (system !== undefined && !isContent(system)) return false
  if (system !== undefined) {
    const { pieces, others } = splitContent(system, ['system'], ['text'])
    builder.message('system', pieces, [withoutTexts(system), ...others])
  }
  const firstTurn = messages.findIndex(({ role }) => role !== 'system')
  for (const [i, message] of messages.entries()) {
    // with some chat templates both engines move a system message from between the turns to before all turns
    if (message.role === 'system' && i > firstTurn && firstTurn >= 0) builder.message('system', [], [{}, message])
    else readMessage(message, ['messages', i, 'content'], builder)
  }
  builder.endPrompt([body.model, unmarkedTools(body.tools), body.cache_salt])
  return true
}

function readMessage(message: Json, path: JsonPath, builder: PromptBuilder): void {
  const { role, content, ...rest } = unmarked(message)
  // the engine rewords tool results in assistant messages
  const parts = role === 'user' && isParts(content) ? content : []
  for (const { type, id, name, input } of isParts(content) ? content : [])
    if (type === 'tool_use') builder.call(id, name, input)
  const lastResult = parts.findLastIndex(isToolResult)
  if (lastResult < 0) {
    const { pieces, others } = splitContent(content, path, ['text'])
    builder.message(role as string, pieces, [[rest, withoutTexts(content)], ...others])
    return
  }
  for (const [place, part] of parts.slice(0, lastResult + 1).entries()) {
    // every result becomes a message of its own, so that tool output and user text are searched separately
    if (isToolResult(part)) readToolResult(part, [...path, place], rest, builder)
    // its place is uncertain: vLLM puts all results before it, SGLang leaves it where it is
    else builder.message('user', [], [rest, unmarked(part)])
  }
  const from = lastResult + 1
  const said = parts.slice(from)
  if (said.length === 0) return
  const texts = said.flatMap(({ type, text }, i) => {
    return type === 'text' && typeof text === 'string' ? [{ path: [...path, from + i, 'text'], text }] : []
  })
  const others = said
    .filter((part) => part.type !== 'text' || typeof part.text !== 'string' || hasOwnMembers(part))
    .map(unmarked)
  builder.message('user', texts, [[rest, withoutTexts(said)], ...others])
}

function readToolResult(part: Json, path: JsonPath, rest: unknown, builder: PromptBuilder): void {
  const { content, ...own } = unmarked(part)
  const { pieces, others } = splitContent(content, [...path, 'content'], ['text'])
  builder.message('tool', pieces, [[rest, own, withoutTexts(content)], ...others], { call: own.tool_use_id })
}

/** Returns what text parts have besides their text. */
function withoutTexts(content: unknown): unknown[] {
  if (!isParts(content)) return []
  return content
    .map(unmarked)
    .map(({ type, text, ...rest }) => (type === 'text' && typeof text === 'string' ? rest : null))
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
