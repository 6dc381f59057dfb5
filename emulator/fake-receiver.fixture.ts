import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import type { CachedRequest, CacheReport } from './cache/request-ledger.ts'

interface ReceivedPost {
  path: string
  authorization: string | undefined
  body: { generation: string; sequence: number; events?: CacheReport[]; requests?: CachedRequest[]; reuse?: object }
}

/** A receiver of the eviction callback protocol that can be made to forget its state and to refuse posts. */
export class FakeReceiver {
  readonly posts: ReceivedPost[] = []
  /** Cached tokens by request. */
  readonly state: Map<string, number> = new Map()
  /** The status of every answer, if set. */
  refusal: number | undefined
  url: string = ''
  #server: Server | undefined
  #generation: string | undefined
  #sequence = 0

  async start(port: number = 0): Promise<void> {
    const server = createServer(async (request, response) => {
      const path = request.url ?? ''
      const body: ReceivedPost['body'] = JSON.parse(await readText(request))
      this.posts.push({ path, authorization: request.headers.authorization, body })
      const expected = this.refusal ? undefined : this.#receive(path.split('/').at(-1)!, body)
      const status = this.refusal ?? (expected === undefined ? 200 : 409)
      response
        .writeHead(status)
        .end(JSON.stringify(expected === undefined ? { sequence: this.#sequence } : { expected }))
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/replicas/engine`
  }

  async stop(): Promise<void> {
    if (!this.#server) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Acts as after a restart: no generation is known. */
  forget(): void {
    this.#generation = undefined
    this.state.clear()
  }

  /** Applies a post. Returns the expected sequence if the post's sequence is wrong. */
  #receive(kind: string, body: ReceivedPost['body']): number | undefined {
    if (kind === 'snapshot') {
      this.#generation = body.generation
      this.#sequence = body.sequence
      this.state.clear()
      for (const one of body.requests ?? []) this.state.set(one.request_id, one.cached_tokens)
      return undefined
    }
    if (body.generation !== this.#generation) return 0
    if (body.sequence <= this.#sequence) return undefined
    if (body.sequence !== this.#sequence + 1) return this.#sequence + 1
    this.#sequence = body.sequence
    for (const event of body.events ?? []) {
      if (event.type === 'cleared') this.state.clear()
      else if (event.cached_tokens === 0) this.state.delete(event.request_id)
      else this.state.set(event.request_id, event.cached_tokens)
    }
    return undefined
  }
}
