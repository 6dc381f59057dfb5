import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A double of an engine that embeds and ranks: it computes nothing, and keeps what it received. */
export interface EmbedderDouble {
  readonly url: string
  readonly received: { path: string; body: Buffer; headers: IncomingMessage['headers'] }[]
  close(): void
}

export async function startEmbedderDouble(): Promise<EmbedderDouble> {
  const received: EmbedderDouble['received'] = []
  const list = {
    object: 'list',
    data: [{ id: 'embedder', object: 'model', created: 1, owned_by: 'infinity', stats: { x: 1 } }],
  }
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray())
    if (incoming.url !== '/v1/models' && incoming.url !== '/health')
      received.push({ path: incoming.url!, body, headers: incoming.headers })
    const answer =
      incoming.url === '/v1/models'
        ? list
        : { object: 'list', data: [{ index: 0, embedding: [0.5] }], results: [], model: 'embedder', usage: {} }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, close }
}
