import { isObject, type Json } from '#engine-adapters/json-object.ts'
import { isParts, type PromptBuilder, splitContent, unmarked, unmarkedTools } from '../body/prompt-builder.ts'

/** Reads OpenAI's chat completions, with vLLM's `documents`. */
export function readChat(body: Json, builder: PromptBuilder): boolean {
  const { messages } = body
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) return false
  const documents = isParts(body.documents) && body.documents.length > 1
  // chat templates put them before the messages
  if (documents) builder.message('documents', [{ path: ['documents'], text: '', isRaw: true }], [])
  for (const [i, message] of messages.entries()) {
    const { role, content, ...rest } = unmarked(message)
    const { pieces, others } = splitContent(content, ['messages', i, 'content'], ['text'])
    readCalls(message, i, builder)
    builder.message(role as string, pieces, [rest, ...others], { call: rest.tool_call_id ?? i })
  }
  const { model, chat_template, chat_template_kwargs, cache_salt } = body
  const tools = unmarkedTools(body.tools)
  builder.endPrompt([model, tools, documents ? null : body.documents, chat_template, chat_template_kwargs, cache_salt])
  return true
}

/** Registers tool calls with the builder, and the tool name of a result message that states it. */
function readCalls({ role, tool_calls, tool_call_id, name }: Json, place: number, builder: PromptBuilder): void {
  for (const { id, function: called } of isParts(tool_calls) ? tool_calls : []) {
    if (isObject(called)) builder.call(id, called.name, called.arguments)
  }
  if (role === 'function' || role === 'tool') builder.call(tool_call_id ?? place, name)
}

function isMessage(value: unknown): value is Json {
  if (!isObject(value) || typeof value.role !== 'string') return false
  const { content } = value
  return content === undefined || content === null || typeof content === 'string' || isParts(content)
}
