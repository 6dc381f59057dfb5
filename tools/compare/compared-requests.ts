import { createHash } from 'node:crypto'
import { ConfigError } from '#proxy/common/errors.ts'
import type { TraceRequest } from '../replay/trace/trace.ts'
import type { ChatBody } from './send-request.ts'

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
  /** whether its client asked to leave its blocks in their order */
  readonly keepsOrder: boolean
  /** a message that follows those of its conversation, or a body as received, with all of its messages */
  readonly chat: { readonly message: ChatMessage } | { readonly received: ChatBody }
  /** right answers; undefined: the trace has none */
  readonly answers: readonly string[] | undefined
}

const system: ChatMessage = {
  role: 'system',
  content: 'Answer the question from the documents, in as few words as possible. Say nothing else.',
}

const chatPath = '/v1/chat/completions'

/** Whether a request of a trace is a chat: all are, except those that were recorded on another path. */
export function isChat({ request }: Pick<TraceRequest, 'request'>): boolean {
  return request === undefined || request.path.split('?')[0] === chatPath
}

/**
 * Returns the chats of a trace. Requests recorded as received stay as they are. For others, the blocks become
 * `<document>`s in one message, after the text that precedes them in the trace; throws if blocks have no texts.
 */
export function toComparedRequests(requests: readonly TraceRequest[], topK?: number): ComparedRequest[] {
  return requests.map((own) => ({
    id: String(own.queryId),
    conversation: own.conversation,
    tenant: own.tenant,
    keepsOrder: own.reorder === false,
    answers: own.answers,
    chat: own.request ? { received: own.request.body as ChatBody } : { message: toMessage(own, topK) },
  }))
}

/** Returns the body of a request; `history`: what was said before in its conversation, unless the body has it. */
export function toBody({ chat }: ComparedRequest, history: readonly ChatMessage[]): ChatBody {
  return 'received' in chat ? chat.received : { messages: [system, ...history, chat.message] }
}

/**
 * Returns a digest of each request, by id, that also depends on all requests before it: they decide what is cached, and
 * what was said in its conversation.
 */
export function digestRequests(requests: readonly ComparedRequest[]): ReadonlyMap<string, string> {
  const hash = createHash('sha256').update(JSON.stringify(system))
  return new Map(
    requests.map(({ id, tenant, conversation, chat }) => {
      hash.update(JSON.stringify([id, tenant, conversation ?? null, chat]))
      return [id, hash.copy().digest('base64url').slice(0, 22)]
    }),
  )
}

function toMessage({ query, blocks, around }: TraceRequest, topK: number | undefined): ChatMessage {
  const documents = blocks.slice(0, topK).map((block, i) => {
    return `<document index="${i + 1}">\n${textOf(block)}\n</document>`
  })
  const list = documents.length > 0 ? `<documents>\n${documents.join('\n')}\n</documents>` : ''
  const front = (around?.front ?? []).map(textOf).join('')
  const rest = around ? around.rest.map(textOf).join('') : `Question: ${query ?? 'What do these documents say?'}`
  return { role: 'user', content: [front, list, rest].filter((part) => part !== '').join('\n\n') }
}

function textOf({ key, text }: TraceRequest['blocks'][number]): string {
  if (text !== undefined) return text
  throw new ConfigError(
    `Block ${key} of the trace has no "text": compare sends texts (record.text: true records them).`,
  )
}
