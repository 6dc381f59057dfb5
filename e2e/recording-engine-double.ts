import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it reached the engine, to the byte. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** Stands in for an engine where a test must see the bytes it gets, or must choose the bytes it answers. */
export interface RecordingEngineDouble {
  readonly url: string
  readonly port: number
  readonly requests: RecordedRequest[]
  /** resolves when the proxy has closed the connection of an answer that was not whole */
  readonly abortions: Promise<void>[]
  answer(respond: (response: ServerResponse, request: RecordedRequest) => void): void
  close(): Promise<void>
}

const usage = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9, prompt_tokens_details: { cached_tokens: 0 } }
const completion = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [], usage })
const { prompt_tokens_details: _, ...plainUsage } = usage
const plainCompletion = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [], usage: plainUsage })

/** Answers as an engine that does not say what it had cached, by which nobody's belief is contradicted. */
export function answerPlainly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(plainCompletion)
}

/** What the proxy asks of its own accord, at times of its own: not recorded. */
const ownPages = new Set(['/metrics', '/server_info', '/get_server_info'])

/** `hasOwnPages`: these are asked for like any other. */
export async function startRecordingEngineDouble(port = 0, hasOwnPages = false): Promise<RecordingEngineDouble> {
  const requests: RecordedRequest[] = []
  const abortions: Promise<void>[] = []
  let respond = (response: ServerResponse, _request: RecordedRequest): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion)
  }
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    abortions.push(
      new Promise((resolve) => {
        response.on('close', () => {
          if (!response.writableFinished) resolve()
        })
      }),
    )
    // a client that goes away while it sends is part of what is tested
    incoming.on('error', () => {})
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method, url, headers, rawHeaders } = incoming
      if (!hasOwnPages && ownPages.has(url!)) {
        response.writeHead(404).end()
        return
      }
      const request = { method: method!, url: url!, headers, rawHeaders, body: Buffer.concat(chunks) }
      requests.push(request)
      respond(response, request)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: chosen } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${chosen}`,
    port: chosen,
    requests,
    abortions,
    answer: (next) => {
      respond = next
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
