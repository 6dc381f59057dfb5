import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'
import { failOnFaults, until } from './watch-faults.ts'

const chat = '/v1/chat/completions'
const routes = [chat, '/v1/embeddings']

let engine: RawEngineDouble
let proxy: RunningProxy

failOnFaults()

/** Answers with the request line and the body of the request. */
const echo = {
  onRequest: (socket: { write(bytes: Buffer): unknown }, head: string, body: Buffer): void => {
    socket.write(rawAnswer(JSON.stringify({ line: head.split('\r\n')[0], body: body.toString() })))
  },
}

beforeEach(async () => {
  engine = await startRawEngineDouble(echo)
  proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 600 })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

async function expectService(): Promise<void> {
  expect((await postJson(proxy.url + chat, ragRequest('after', ['a', 'b']))).status).toBe(200)
}

describe('what is no HTTP', () => {
  const manyHeaders = Array.from({ length: 80 }, (_, i) => `x-${i}: ${'v'.repeat(1000)}`).join('\r\n')

  test.each([
    ['noise', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['an unknown version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a header too large', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['headers too large together', `GET / HTTP/1.1\r\nhost: x\r\n${manyHeaders}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['a header with a NUL', 'GET / HTTP/1.1\r\nhost: x\r\nx: \0\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a folded header', 'GET / HTTP/1.1\r\nhost: x\r\nx: a\r\n b\r\n\r\n', /^HTTP\/1\.1 (400|200) /],
    [
      'an expectation nobody has',
      `GET ${chat} HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n`,
      /^HTTP\/1\.1 417 /,
    ],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n', /^(HTTP\/1\.1 4\d\d .*)?$/s],
  ])('is refused and ends no more than its connection: %s', async (_what, bytes, answer) => {
    const client = await connectRaw(proxy.url)
    client.write(bytes)
    if (answer.source.includes('200')) client.socket.end()
    expect(await client.ended).toMatch(answer)
    await expectService()
  })

  test.each([
    ['two lengths', 'content-length: 2\r\ncontent-length: 40\r\n\r\n{}'],
    ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a length that is no number', 'content-length: 2x\r\n\r\n{}'],
    ['a negative length', 'content-length: -1\r\n\r\n'],
    ['chunks within another coding', 'transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
  ])('is refused, so that nothing can be smuggled: %s', async (_what, rest) => {
    for (const path of routes) {
      const client = await connectRaw(proxy.url)
      client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${rest}GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n`)
      expect(await client.ended).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect(engine.requestCount).toBe(0)
    await expectService()
  })

  test.each([
    ['a chunk size that is no number', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size too large for any machine', 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than its size', '1\r\n{}\r\n0\r\n\r\n'],
    ['chunks that break off', '2\r\n{}\r\n'],
  ])('in the body never reaches the engine as whole: %s', async (_what, body) => {
    for (const path of routes) {
      const client = await connectRaw(proxy.url)
      client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${body}`)
      await delay(20)
      client.socket.end()
      expect(await client.ended).toMatch(/^(HTTP\/1\.1 400 .*)?$/s)
    }
    expect(engine.requestCount).toBe(0)
    await until(() => [...engine.used].every((socket) => socket.closed))
    await expectService()
  })
})

describe('requests in a row on one connection', () => {
  test('are answered in their order, each with its own, whichever the engine answers first', async () => {
    engine.behave({
      onRequest: (socket, head, body) => {
        const order = Number(/question (\d)/.exec(body.toString())?.[1] ?? /\/path-(\d)/.exec(head)![1])
        setTimeout(() => socket.write(rawAnswer(`"answer ${order}"`)), 20 * (6 - order))
      },
    })
    const client = await connectRaw(proxy.url)
    const requests = Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0
        ? rawPost(chat, { messages: [{ role: 'user', content: `question ${i}` }] })
        : rawPost(`/path-${i}`, { i }, i === 5 ? ['connection: close'] : []),
    )
    client.write(requests.join(''))
    const answers = [...(await client.ended).matchAll(/"answer (\d)"/g)].map(([, order]) => Number(order))
    expect(answers).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('survive one that is refused', async () => {
    const client = await connectRaw(proxy.url)
    client.write(rawPost(chat, 5).replace(/5$/, '[') + rawPost('/after', {}, ['connection: close']))
    expect(await client.ended).toMatch(/^HTTP\/1\.1 400 .*invalid_body.*HTTP\/1\.1 200 .*\/after/s)
  })
})

describe('a client that', () => {
  test.each(routes)('waits for 100 Continue gets it, and the engine gets the body: %s', async (path) => {
    const body = { messages: [{ role: 'user', content: 'patient' }] }
    const request = rawPost(path, body, ['expect: 100-continue', 'connection: close'])
    const headEnd = request.indexOf('\r\n\r\n') + 4
    const client = await connectRaw(proxy.url)
    client.write(request.slice(0, headEnd))
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    client.write(request.slice(headEnd))
    expect(await client.ended).toMatch(/HTTP\/1\.1 200 .*patient/s)
  })

  test.each([
    ['whole', rawAnswer('{"a":1}').toString(), '{"a":1}'],
    [
      'a stream',
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n',
      'data: 1\n\n',
    ],
  ])('speaks HTTP/1.0 gets an answer it can read: %s', async (_what, answer, body) => {
    engine.behave({ onRequest: (socket) => socket.write(answer) })
    for (const path of routes) {
      const client = await connectRaw(proxy.url)
      client.write(
        rawPost(path, ragRequest('q', ['a', 'b']))
          .replace('HTTP/1.1', 'HTTP/1.0')
          .replace('host: proxy\r\n', ''),
      )
      const answered = await client.ended
      expect(answered).toMatch(/^HTTP\/1\.[01] 200 /)
      expect(answered).not.toMatch(/^transfer-encoding/im)
      expect(answered.slice(answered.indexOf('\r\n\r\n') + 4)).toBe(body)
    }
  })

  test('wants a WebSocket is answered by the engine as if it had not asked', async () => {
    const client = await connectRaw(proxy.url)
    client.write(
      'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n',
    )
    await client.until('GET /v1/realtime HTTP/1.1')
    expect(client.received).toMatch(/^HTTP\/1\.1 200 /)
    client.reset()
    await expectService()
  })

  test('offers HTTP/2 with its request is answered in HTTP/1.1', async () => {
    const client = await connectRaw(proxy.url)
    const offer = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAoAAA']
    client.write(rawPost(chat, { messages: [{ role: 'user', content: 'upgraded?' }] }, offer))
    await client.until('upgraded?')
    expect(client.received).toMatch(/^HTTP\/1\.1 200 /)
    client.reset()
  })

  test('asks for a path no URL parser takes is answered by the engine', async () => {
    for (const path of ['//', '/%zz', '/a?b=%', '*', '/x y'.replace(' ', '\u00e9'), 'http://other.example/v1/models']) {
      const client = await connectRaw(proxy.url)
      client.write(`OPTIONS ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      expect(await client.ended).toMatch(/^HTTP\/1\.1 (200|400) /)
    }
    await expectService()
  })
})
