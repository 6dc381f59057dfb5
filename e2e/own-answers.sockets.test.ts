import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endBehindBody } from '#proxy/http/read-body.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RawEngineDouble, startRawEngineDouble } from './raw-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'
import { until } from './watch-faults.ts'

const chat = '/v1/chat/completions'
const large = 'x'.repeat(20_000_000)

describe('an answer of the proxy’s own', () => {
  let engine: RawEngineDouble
  let proxy: RunningProxy

  beforeEach(async () => {
    engine = await startRawEngineDouble()
    proxy = await startTestProxy({ url: engine.url }, { limits: { body_bytes: 30_000_000 } })
  })
  afterEach(async () => {
    await engine.close()
    await proxy.close()
  })

  /** Starts draining, with one request in flight that keeps the proxy from ending. */
  async function drain(): Promise<{ end(): Promise<void> }> {
    const first = await connectRaw(proxy.url)
    first.write(rawPost(chat, ragRequest('in flight', ['a', 'b'])))
    await until(() => engine.requestCount === 1)
    const closed = proxy.close()
    return {
      end: () => {
        first.reset()
        return closed
      },
    }
  }

  test.each<[code: string, path: string, body: unknown, headers: Record<string, string>]>([
    ['invalid_body', chat, '{"messages":', {}],
    ['invalid_body', chat, ragRequest('q', ['a'], { reprise: 1 }), {}],
    ['invalid_body', '/v1/messages', '[', {}],
    ['invalid_body', chat, ragRequest('q', ['a']), { 'x-reprise-options': 'nonsense' }],
    ['body_too_large', chat, ragRequest('q', [large, large]), {}],
    ['engine_unreachable', chat, ragRequest('q', ['a', 'b']), {}],
    ['engine_unreachable', '/v1/embeddings', { input: 'x' }, {}],
  ])('has a request id, the client’s own where it has one: %s on %s', async (code, path, body, headers) => {
    engine.behave({ onConnection: (socket) => socket.destroy() })
    const ids: (string | null)[] = []
    for (const own of [{}, {}, { 'x-request-id': 'mine' }] as Record<string, string>[]) {
      const response = await postJson(proxy.url + path, body, { headers: { ...headers, ...own } })
      expect((await errorOf(response)).code).toBe(code)
      ids.push(response.headers.get('x-request-id'))
    }
    expect(ids[0]).toMatch(/^[\w-]{8,}$/)
    expect(ids[1]).not.toBe(ids[0])
    expect(ids[2]).toBe('mine')
  })

  test.each([chat, '/v1/embeddings'])('reaches a client of %s that reads only once it has sent all', async (path) => {
    const draining = await drain()
    const client = await connectRaw(proxy.url)
    client.socket.pause()
    await new Promise<void>((resolve, reject) => {
      client.socket.on('close', () => reject(new Error('cut off while it was sending')))
      client.socket.write(rawPost(path, ragRequest('late', [large])), () => resolve())
    })
    client.socket.resume()
    expect(await client.ended).toMatch(/^HTTP\/1\.1 503 .*x-request-id: .*connection: close.*"draining"/is)
    await draining.end()
  })

  test('is there at once for a client that is still sending', async () => {
    const draining = await drain()
    const client = await connectRaw(proxy.url)
    client.write(rawPost(chat, ragRequest('late', [large])).slice(0, 1_000))
    await client.until('"draining"')
    expect(client.socket.destroyed).toBe(false)
    client.reset()
    await draining.end()
  })
})

describe('a client that never ends its body', () => {
  let server: Server
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  test('is not waited for beyond a time', async () => {
    server = createServer((incoming, outgoing) => {
      outgoing.writeHead(503, { connection: 'close', 'content-length': 4 })
      void endBehindBody(incoming, outgoing, Buffer.from('late'), 100)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = await connectRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const begun = performance.now()
    client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n')
    const trickle = setInterval(() => client.write('x'), 10)
    expect(await client.ended).toMatch(/late$/)
    clearInterval(trickle)
    expect(performance.now() - begun).toBeGreaterThan(90)
  })
})
