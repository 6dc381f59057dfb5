import type { TraceRequest } from '#replay/trace/trace.ts'
import { ConfigError } from '../config/config-error.ts'

/** One message of a chat. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** A request of a trace as a chat. */
export interface ComparedRequest {
  readonly id: string
  readonly conversation: string | undefined
  /** the tenant whose cache it may share */
  readonly tenant: string
  readonly message: ChatMessage
  /** right answers; undefined: the trace has none */
  readonly answers: readonly string[] | undefined
}

const system: ChatMessage = {
  role: 'system',
  content: 'Answer the question from the documents, in as few words as possible. Say nothing else.',
}

/**
 * Returns the chats of a trace. Throws if it has no texts. The blocks are `<document>`s in one message, after what
 * precedes them in the trace.
 */
export function toComparedRequests(requests: readonly TraceRequest[], topK?: number): ComparedRequest[] {
  return requests.map(({ queryId, query, conversation, tenant, blocks, around, answers }) => {
    const documents = blocks.slice(0, topK).map((block, i) => {
      const text = textOf(block)
      return `<document index="${i + 1}">\n${text}\n</document>`
    })
    const list = documents.length > 0 ? `<documents>\n${documents.join('\n')}\n</documents>` : ''
    const front = (around?.front ?? []).map(textOf).join('')
    const rest = around ? around.rest.map(textOf).join('') : `Question: ${query ?? 'What do these documents say?'}`
    const content = [front, list, rest].filter((part) => part !== '').join('\n\n')
    return { id: String(queryId), conversation, tenant, message: { role: 'user', content }, answers }
  })
}

/** Returns the messages of a request, after those of its conversation. */
export function toMessages(request: ComparedRequest, history: readonly ChatMessage[]): ChatMessage[] {
  return [system, ...history, request.message]
}

function textOf({ key, text }: TraceRequest['blocks'][number]): string {
  if (text !== undefined) return text
  throw new ConfigError(
    `Block ${key} of the trace has no "text": compare sends texts (record.text: true records them).`,
  )
}
