import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** An engine double that answers with a request's markers, so that a test can check that each answer belongs to it. */
export interface EchoingEngineDouble {
  readonly url: string
  /** number of requests answered completely */
  readonly answered: number
  close(): Promise<void>
}

/** A marker of conversation 12, turn 3, is `<<12.3>>`. */
const marker = /<<\d+\.\d+>>/g

/**
 * Answers every request with all markers of its last message, in order, and those of the earlier messages. Streams them
 * in pieces with pauses, so that many answers are in flight at once.
 */
export async function startEchoingEngineDouble(): Promise<EchoingEngineDouble> {
  let answered = 0
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    // tests include clients that disconnect
    incoming.on('error', () => {})
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', async () => {
      // it says nothing of itself
      if (incoming.method === 'GET') {
        response.writeHead(404).end()
        return
      }
      const { messages, stream } = JSON.parse(Buffer.concat(chunks).toString()) as Request
      const markers = messages.map(({ content }) => content.match(marker) ?? [])
      const answer = JSON.stringify({ history: markers.slice(0, -1).flat(), last: markers.at(-1) })
      response.setHeader('x-engine-saw', String(incoming.headers['x-request-id']))
      await (stream ? writeStream(response, answer) : writeWhole(response, answer))
      answered += 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get answered() {
      return answered
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface Request {
  readonly messages: readonly { readonly content: string }[]
  readonly stream?: boolean
}

async function writeWhole(response: ServerResponse, answer: string): Promise<void> {
  await delay(answer.length % 17)
  const message = { role: 'assistant', content: answer }
  const usage = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }))
}

async function writeStream(response: ServerResponse, answer: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < answer.length && !response.destroyed; at += 7) {
    const delta = { content: answer.slice(at, at + 7) }
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
    if (at % 21 === 0) await delay(at % 5)
  }
  response.end('data: [DONE]\n\n')
}
