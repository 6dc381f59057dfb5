import type { ChatMessage, ChatPrompt } from '../../text/chat-template.ts'
import { badRequest } from '../engine-error.ts'
import type { InputItem, ResponsesBody } from './responses-body.ts'

/** The chat that an engine builds from a request before it renders the prompt: equal chats, equal prefixes. */
export function toResponsesChat({ instructions, input, tools }: ResponsesBody): ChatPrompt {
  const messages: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : []
  if (typeof input === 'string') messages.push({ role: 'user', content: input })
  else for (const item of input) addItem(messages, item)
  return {
    messages,
    tools: (tools ?? []).flatMap(({ type, ...definition }) =>
      type === 'function' ? [{ type, function: definition }] : [],
    ),
  }
}

/** Adds an item to the chat. An assistant's text, calls and reasoning are several items, but one chat message. */
function addItem(messages: ChatMessage[], item: InputItem): void {
  const { type, role } = item
  if (type === 'function_call') addCall(messages, item)
  else if (type === 'function_call_output') messages.push({ role: 'tool', content: item.output ?? '' })
  else if (role === 'assistant') addAnswer(messages, item)
  else if (typeof role === 'string') messages.push({ role, content: item.content ?? '' })
  else if (type !== 'reasoning') throw badRequest(`Unsupported input item type: ${type}`, 'input')
}

function addCall(messages: ChatMessage[], item: InputItem): void {
  const call = { id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } }
  const last = messages.at(-1)
  if (last?.role === 'assistant') last.tool_calls = [...((last.tool_calls as object[]) ?? []), call]
  else messages.push({ role: 'assistant', tool_calls: [call] })
}

function addAnswer(messages: ChatMessage[], item: InputItem): void {
  // vLLM reads the first part only
  const content = typeof item.content === 'string' ? item.content : (item.content?.[0]?.text ?? '')
  const last = messages.at(-1)
  if (last?.role === 'assistant' && last.content === undefined) last.content = content
  else messages.push({ role: 'assistant', content })
}
