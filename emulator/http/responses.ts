import { randomUUID } from 'node:crypto'
import type { ChatMessage, ChatPrompt } from '../text/chat-template.ts'
import type { Answer, Output } from './answer.ts'
import { type InputItem, type ResponsesBody, readResponsesBody } from './bodies.ts'
import { badRequest, EngineError } from './engine-error.ts'
import type { Call } from './http-server.ts'
import type { PromptReader } from './prompt-reader.ts'

/** OpenAI's `POST /v1/responses`, as the engines implement it without a store of responses. */
export function answerResponse(reader: PromptReader, call: Call): Answer {
  const body = readResponsesBody(call.body)
  const { previous_response_id: previous, max_output_tokens: maximum } = body
  if (previous != null) {
    const message = `Response with id '${previous}' not found.`
    throw new EngineError(404, 'invalid_request_error', message, 'response_id')
  }
  // neither engine reads X-Request-Id or `rid` here; vLLM numbers the turns of one response
  const id = body.request_id || `resp_${randomId()}`
  const prompt = reader.chat(toResponsesChat(body))
  const request = reader.request(reader.kind === 'vllm' ? `${id}_0` : id, body, prompt, maximum)
  const settings = { id, ...settingsOf(reader, body, prompt.length) }
  const isCut = request.reason === 'length'
  const begun = { ...settings, incomplete_details: null, output: [], status: 'in_progress', usage: null }
  const item = `msg_${randomId()}`
  const at = { content_index: 0, item_id: item, output_index: 0 }
  const whole = ([output]: readonly Output[]): object => ({
    ...settings,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [outputItem(item, output!.text)],
    status: isCut ? 'incomplete' : 'completed',
    usage: {
      input_tokens: prompt.length,
      input_tokens_details: { cached_tokens: output!.cachedTokens },
      output_tokens: request.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt.length + request.outputTokens,
    },
  })
  let number = 0
  const event = (type: string, members: object): object => {
    return { ...members, type: `response.${type}`, sequence_number: number++ }
  }
  return {
    requests: [request],
    isStream: body.stream ?? false,
    earlyHeaders: false,
    isNamed: true,
    accepted: [event('created', { response: begun }), event('in_progress', { response: begun })],
    pieces: (delta, { index }) => {
      const first =
        index > 0
          ? []
          : [
              event('output_item.added', { item: outputItem(item), output_index: 0 }),
              event('content_part.added', { ...at, part: outputText('') }),
            ]
      return [...first, event('output_text.delta', { ...at, delta, logprobs: [] })]
    },
    closing: (outputs) => {
      const { text } = outputs[0]!
      return [
        event('output_text.done', { ...at, logprobs: [], text }),
        event('content_part.done', { ...at, part: outputText(text) }),
        event('output_item.done', { item: outputItem(item, text), output_index: 0 }),
        // it has this name even if the response is incomplete
        event('completed', { response: whole(outputs) }),
      ]
    },
    whole,
  }
}

function settingsOf(reader: PromptReader, body: ResponsesBody, promptTokens: number): object {
  return {
    ...{ created_at: Math.floor(Date.now() / 1000), model: reader.model(body), object: 'response' },
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? null,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    temperature: body.temperature ?? 1,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    max_output_tokens: body.max_output_tokens ?? reader.modelTokens - promptTokens,
    ...{ background: false, previous_response_id: null, service_tier: 'auto', truncation: 'disabled' },
  }
}

function outputItem(id: string, text?: string): object {
  const content = text === undefined ? [] : [outputText(text)]
  return { id, content, role: 'assistant', status: text === undefined ? 'in_progress' : 'completed', type: 'message' }
}

function outputText(text: string): object {
  return { annotations: [], text, type: 'output_text', logprobs: [] }
}

function randomId(): string {
  return randomUUID().replaceAll('-', '')
}

/** The chat that an engine builds from a request before it renders the prompt: equal chats, equal prefixes. */
function toResponsesChat({ instructions, input, tools }: ResponsesBody): ChatPrompt {
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
