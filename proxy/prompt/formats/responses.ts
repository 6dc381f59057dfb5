import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { JsonPath } from '../../common/json/json-value.ts'
import { isParts, type PromptBuilder, splitContent } from '../body/prompt-builder.ts'

const textTypes = ['input_text', 'output_text', 'text']

/** Reads OpenAI's responses: instructions, and an input that is a text or a list of items. */
export function readResponses(body: Json, builder: PromptBuilder): boolean {
  const { instructions, input } = body
  const items = typeof input === 'string' ? [] : input
  if (!isParts(items) || (typeof input !== 'string' && items.length === 0)) return false
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string') return false
  if (typeof instructions === 'string') {
    builder.message('system', [{ path: ['instructions'], text: instructions }], [{}])
  }
  if (typeof input === 'string') builder.message('user', [{ path: ['input'], text: input }], [{}])
  for (const [i, item] of items.entries()) readItem(item, ['input', i], builder)
  const { model, tools, previous_response_id, conversation, prompt, cache_salt } = body
  builder.endPrompt([model, tools, previous_response_id, conversation, prompt, cache_salt])
  return true
}

function readItem(item: Json, path: JsonPath, builder: PromptBuilder): void {
  if (typeof item.role === 'string') {
    const { role, content, ...rest } = item
    const { pieces, others } = splitContent(content, [...path, 'content'], textTypes)
    builder.message(role as string, pieces, [rest, ...others, ...unread(content)])
    return
  }
  if (typeof item.type === 'string' && item.type.endsWith('_call_output')) {
    const { output, ...rest } = item
    const { pieces, others } = splitContent(output, [...path, 'output'], textTypes)
    builder.message('tool', pieces, [rest, ...others, ...unread(output)], { call: rest.call_id })
    return
  }
  builder.call(item.call_id, item.name, item.arguments)
  builder.message(String(item.type), [], [item])
}

/** Returns content of an unknown shape, because it still distinguishes one message from another. */
function unread(content: unknown): unknown[] {
  return typeof content === 'string' || isParts(content) || content === undefined ? [] : [isObject(content), content]
}
