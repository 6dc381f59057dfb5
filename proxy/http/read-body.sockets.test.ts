import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dropBody, readBody } from './read-body.ts'

const megabyte = 1024 * 1024
const limit = 64 * megabyte

let server: Server
/** handles each request */
let take: (incoming: IncomingMessage) => Promise<void>

beforeEach(async () => {
  server = createServer((incoming, outgoing) => {
    void take(incoming).finally(() => outgoing.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function send(body: Buffer, headers: Record<string, string | number> = {}): ReturnType<typeof request> {
  const { port } = server.address() as AddressInfo
  const sent = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false })
  sent.on('error', () => {})
  sent.write(body)
  return sent
}

/** The most bytes of a request that arrive in one turn of the event loop. */
function mostAtOnce(incoming: IncomingMessage): { readonly bytes: number } {
  let [round, most] = [0, 0]
  let isOver = false
  incoming.on('data', (chunk: Buffer) => {
    round += chunk.length
    most = Math.max(most, round)
  })
  incoming.on('close', () => (isOver = true))
  const goRound = (): void => {
    round = 0
    if (!isOver) setImmediate(goRound)
  }
  goRound()
  return {
    get bytes() {
      return most
    },
  }
}

test.each([
  ['told', { 'content-length': 32 * megabyte }],
  ['not told', {}],
])('a large body is read whole, and others are served between its chunks: its length %s', async (_, headers) => {
  const body = Buffer.alloc(32 * megabyte)
  for (let at = 0; at < body.length; at += 4) body.writeUInt32LE(at, at)
  const read = new Promise<{ bytes: Buffer; most: number }>((resolve, reject) => {
    take = async (incoming) => {
      const most = mostAtOnce(incoming)
      try {
        const bytes = await readBody(incoming, { limit })
        resolve({ bytes, most: most.bytes })
      } catch (error) {
        reject(error)
      }
    }
  })
  send(body, headers).end()
  const { bytes, most } = await read
  expect(bytes.equals(body)).toBe(true)
  // the socket buffers two megabytes or more
  expect(most).toBeLessThanOrEqual(megabyte)
})

test('a client that leaves in the middle of a large body is noticed', async () => {
  let arrived = (): void => {}
  const begun = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const read = new Promise((resolve) => {
    take = async (incoming) => {
      incoming.once('data', arrived)
      resolve(await readBody(incoming, { limit }).catch((error: unknown) => error))
    }
  })
  const sent = send(Buffer.alloc(8 * megabyte), { 'content-length': 16 * megabyte })
  await begun
  sent.destroy()
  expect(await read).toMatchObject({ code: 'ECONNRESET' })
})

test('what is over the limit is refused while it comes, and read to its end', async () => {
  const read = new Promise((resolve) => {
    take = async (incoming) => {
      resolve(await readBody(incoming, { limit: 4 * megabyte }).catch((error: unknown) => error))
      // ending the answer earlier may close the connection
      await dropBody(incoming)
    }
  })
  const sent = send(Buffer.alloc(16 * megabyte))
  const finished = once(sent, 'finish')
  sent.end()
  expect(await read).toMatchObject({ code: 'body_too_large' })
  await finished
})

test('others are served between the chunks of a body that is not wanted', async () => {
  const dropped = new Promise<number>((resolve) => {
    take = async (incoming) => {
      const most = mostAtOnce(incoming)
      await dropBody(incoming)
      resolve(most.bytes)
    }
  })
  send(Buffer.alloc(32 * megabyte), { 'content-length': 32 * megabyte }).end()
  expect(await dropped).toBeLessThanOrEqual(megabyte)
})
