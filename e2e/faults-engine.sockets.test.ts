import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'
import { failOnFaults, until } from './watch-faults.ts'

/** Requests that are rewritten and those passed through must withstand the same faults. */
const routes = ['/v1/chat/completions', '/v1/embeddings']
const stream = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const halfEvent = '11\r\ndata: {"a":1}\n\nda\r\n'

let engine: RawEngineDouble
let proxy: RunningProxy

failOnFaults()

beforeEach(async () => {
  engine = await startRawEngineDouble()
  // a long time, so that an answer that never settles makes the test hang and fail
  proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 600 })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** Expects the proxy to be fully recovered: it passes on the engine's answer to the next request. */
async function expectService(path: string): Promise<void> {
  engine.behave({ onRequest: (socket) => socket.write(rawAnswer('{"ok":true}')) })
  const response = await postJson(proxy.url + path, ragRequest('after the fault', ['a', 'b']))
  expect(await response.json()).toEqual({ ok: true })
}

describe.each(routes)('an engine behind %s that breaks off', (path) => {
  const before: Record<string, (socket: Socket) => void> = {
    'as soon as it is connected to': () => {},
    'without a byte of its answer': () => {},
    'in the middle of its status line': (socket) => socket.write('HTTP/1.1 20'),
    'in the middle of its headers': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-type: appl'),
    'with what is no HTTP': (socket) => socket.write('not HTTP at all\r\n\r\n'),
    'after an informational head': (socket) => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
    'by changing the protocol': (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  }

  describe.each(['resetAndDestroy', 'end'] as const)('by %s', (how) => {
    test.each(Object.entries(before))('%s is 502, and the request is not sent twice', async (stage, write) => {
      const isAtOnce = stage === 'as soon as it is connected to'
      const breakOff = (socket: Socket): void => {
        write(socket)
        setTimeout(() => socket[how](), 10)
      }
      engine.behave(isAtOnce ? { onConnection: (socket) => socket[how]() } : { onRequest: breakOff })
      const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
      expect(response.status).toBe(502)
      expect(await errorOf(response)).toMatchObject({ code: 'engine_unreachable' })
      expect(engine.requestCount).toBeLessThanOrEqual(1)
      await expectService(path)
    })

    test.each([
      ['half an event of a stream', `${stream}${halfEvent}`, 'data: {"a":1}\n\nda'],
      ['half a chunk', `${stream}11\r\ndata: {"a"`, 'data: {"a"'],
      ['less than its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":', '{"half":'],
    ])('after %s, ends the client’s answer as broken, behind all that came', async (_what, sent, arrived) => {
      engine.behave({
        onRequest: (socket) => {
          socket.write(sent)
          // the delay lets the bytes arrive first; an immediate reset could discard them
          setTimeout(() => socket[how](), 30)
        },
      })
      const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
      const chunks: Uint8Array[] = []
      const readAll = async (): Promise<void> => {
        for await (const chunk of response.body!) chunks.push(chunk)
      }
      await expect(readAll()).rejects.toThrow()
      expect(Buffer.concat(chunks).toString()).toBe(arrived)
      await expectService(path)
    })
  })

  test('and refuses from then on is 502 each time', async () => {
    await engine.close()
    for (let i = 0; i < 3; i++) {
      const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
      expect(response.status).toBe(502)
      expect((await errorOf(response)).code).toBe('engine_unreachable')
    }
    engine = await startRawEngineDouble()
  })

  test('at the end of an answer without a length has answered whole', async () => {
    engine.behave({ onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it') })
    const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
    expect(await response.text()).toBe('all of it')
  })
})

describe.each(routes)('an engine behind %s', (path) => {
  test.each([
    ['its headers half sent', 'HTTP/1.1 200 OK\r\ncontent-type: te'],
    ['nothing sent', ''],
    ['its answer half sent', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'],
    ['half an event sent', `${stream}${halfEvent}`],
  ])('that hangs with %s is waited for, and let go as soon as the client leaves', async (_what, sent) => {
    engine.behave({ onRequest: (socket) => socket.write(sent) })
    for (let i = 0; i < 5; i++) {
      const client = await connectRaw(proxy.url)
      client.write(rawPost(path, ragRequest(`q${i}`, ['a', 'b'])))
      await until(() => engine.requestCount === i + 1)
      await delay(i === 0 ? 200 : 30)
      const connection = engine.sockets.at(-1)!
      expect([client.socket.closed, connection.closed]).toEqual([false, false])
      client.reset()
      // the engine hangs forever, so only the client's departure closes the connection
      await once(connection, 'close')
    }
    await expectService(path)
  })

  test('may compress its answer: the bytes pass as they are', async () => {
    const packed = gzipSync('{"answer":"packed"}'.repeat(1000))
    engine.behave({
      onRequest: (socket) =>
        socket.write(rawAnswer(packed, 'content-type: application/json\r\ncontent-encoding: gzip')),
    })
    const client = await connectRaw(proxy.url)
    client.write(rawPost(path, ragRequest('q', ['a', 'b']), ['accept-encoding: gzip']))
    await until(() => client.received.includes('\r\n\r\n'))
    const headEnd = client.received.indexOf('\r\n\r\n') + 4
    await until(() => client.received.length === headEnd + packed.length)
    expect(client.received.slice(0, headEnd)).toContain('content-encoding: gzip')
    expect(Buffer.from(client.received.slice(headEnd), 'latin1')).toEqual(packed)
    client.reset()
  })

  test.each([
    [429, 'Too Many Requests', '7'],
    [503, 'Service Unavailable', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ])('that says %i keeps its words and its retry-after', async (status, reason, retryAfter) => {
    const body = '{"object":"error","message":"overloaded"}'
    engine.behave({
      onRequest: (socket) =>
        socket.write(
          `HTTP/1.1 ${status} ${reason}\r\nretry-after: ${retryAfter}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        ),
    })
    const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter])
    expect(await response.text()).toBe(body)
    expect(engine.requestCount).toBe(1)
  })

  test('that sends more than its content-length has answered with the length; the rest is nobody’s', async () => {
    engine.behave({
      onRequest: (socket) =>
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue${rawAnswer('"another’s"')}`),
    })
    const response = await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))
    expect(await response.text()).toBe('true')
    await expectService(path)
  })

  test('that speaks on an idle connection, or closes it, is not believed to answer the next request', async () => {
    engine.behave({
      onRequest: (socket) => {
        socket.write(rawAnswer('1'))
        setTimeout(() => socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 5\r\n\r\nstale'), 10)
      },
    })
    expect(await (await postJson(proxy.url + path, ragRequest('q', ['a', 'b']))).text()).toBe('1')
    await delay(50)
    await expectService(path)
    for (const socket of engine.sockets) socket.end()
    await delay(50)
    await expectService(path)
  })

  test('that answers before it has read the request is heard', async () => {
    engine.behave({
      onHead: (socket) => socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'),
    })
    const response = await postJson(proxy.url + path, ragRequest('q', ['x'.repeat(8_000_000), 'y']))
    expect([response.status, await response.text()]).toEqual([413, '{}'])
    await expectService(path)
  })
})
