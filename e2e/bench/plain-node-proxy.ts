import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'

/*
 * `node --import tsx e2e/bench/plain-node-proxy.ts URL`: a minimal proxy in Node. It forwards bytes to one engine as
 * they arrive, and those of the answer back; it parses, logs and counts nothing. No proxy in Node can cost less. It
 * answers `/healthz` itself.
 */

const engine = new Pool(process.argv[2]!)

async function passOn(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { host: _host, connection: _connection, ...headers } = incoming.headers
  const answer = await engine.request({
    path: incoming.url!,
    method: incoming.method as 'POST',
    headers,
    body: incoming,
  })
  outgoing.writeHead(answer.statusCode, answer.headers)
  await pipeline(answer.body, outgoing)
}

const server = createServer((incoming, outgoing) => {
  if (incoming.url === '/healthz') outgoing.end('ok')
  else passOn(incoming, outgoing).catch(() => outgoing.destroy())
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
})
