import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request exactly as it reached the engine. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** An engine double for tests that inspect the bytes it receives or choose the bytes it answers. */
export interface RecordingEngineDouble {
  readonly url: string
  readonly port: number
  readonly requests: RecordedRequest[]
  /** one per request; resolves when the proxy closes the connection before the answer is complete */
  readonly abortions: Promise<void>[]
  answer(respond: (response: ServerResponse, request: RecordedRequest) => void): void
  close(): Promise<void>
}

const usage = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9, prompt_tokens_details: { cached_tokens: 0 } }
const completion = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [], usage })
const { prompt_tokens_details: _, ...plainUsage } = usage
const plainCompletion = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [], usage: plainUsage })

/** Answers like an engine that does not report cached tokens, so that it contradicts no belief of the proxy. */
export function answerPlainly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(plainCompletion)
}

/** Pages that the proxy requests by itself, at unpredictable times; these requests are not recorded. */
const ownPages = new Set(['/metrics', '/server_info', '/get_server_info'])

/** Whether the proxy asks by itself, and no client: clients also ask for models, and say who they are. */
function isOfProxy({ url = '', headers }: IncomingMessage): boolean {
  return ownPages.has(url) || (url === '/v1/models' && headers['user-agent'] === undefined)
}

/** Starts the double. `hasOwnPages`: requests for the pages above are recorded and answered like any other. */
export async function startRecordingEngineDouble(port = 0, hasOwnPages = false): Promise<RecordingEngineDouble> {
  const requests: RecordedRequest[] = []
  const abortions: Promise<void>[] = []
  let respond = (response: ServerResponse, _request: RecordedRequest): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion)
  }
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    const isOwnPage = !hasOwnPages && isOfProxy(incoming)
    const abortion = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    if (!isOwnPage) abortions.push(abortion)
    // tests include clients that disconnect while sending
    incoming.on('error', () => {})
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method, url, headers, rawHeaders } = incoming
      if (isOwnPage) {
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
