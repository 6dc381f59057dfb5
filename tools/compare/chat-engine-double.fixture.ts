import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A chat as an engine receives it. */
interface ReceivedChat {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly [member: string]: unknown
}

/** A refusal instead of an answer. */
interface Refusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What an engine double does; by default it takes everything and answers each last message differently. */
export interface ChatEngineBehaviour {
  /** the pieces of an answer */
  readonly answer?: (chat: ReceivedChat) => readonly object[]
  /** undefined: the chat is answered; `count`: how many chats were received, with this one */
  readonly refuse?: (chat: ReceivedChat, count: number) => Refusal | undefined
  readonly hasUsage?: boolean
  readonly contentType?: string
}

/** An engine without a model, and what it has received. */
export interface ChatEngineDouble {
  readonly url: string
  readonly chats: ReceivedChat[]
  close(): void
}

/** Starts an engine without a model that streams answers to chats. */
export async function startChatEngineDouble(behaviour: ChatEngineBehaviour = {}): Promise<ChatEngineDouble> {
  const { answer = answerLastMessage, refuse, hasUsage = true, contentType = 'text/event-stream' } = behaviour
  const chats: ReceivedChat[] = []
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === 'GET') return outgoing.end(JSON.stringify({ data: [{ id: 'served-model' }] }))
    const chat = (await json(incoming)) as ReceivedChat
    chats.push(chat)
    const refusal = refuse?.(chat, chats.length)
    if (refusal) {
      outgoing.writeHead(refusal.status, refusal.headers).end('not\nso\n')
      return
    }
    const logprobs = chat.logprobs === true ? { content: [{ logprob: -0.5 }] } : null
    const usage = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 16 } }
    const events = [
      ...answer(chat).map((delta) => ({ choices: [{ delta, logprobs }] })),
      ...(hasUsage ? [{ choices: [], usage }] : []),
    ]
    outgoing.writeHead(200, { 'content-type': contentType })
    for (const event of events) outgoing.write(`data: ${JSON.stringify(event)}\n\n`)
    outgoing.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chats,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function answerLastMessage({ messages }: ReceivedChat): object[] {
  const last = JSON.stringify(messages.at(-1)?.content)
  return [{ content: `About ${/case \d+/.exec(last)?.[0] ?? last}` }]
}
