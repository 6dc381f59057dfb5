import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { connectRaw, type RawClient, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'
import { failOnFaults, until } from './watch-faults.ts'

const chat = '/v1/chat/completions'
/** Requests that are rewritten and those passed through must withstand the same faults. */
const routes = [chat, '/v1/embeddings']
const headOfStream = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'

let engine: RawEngineDouble
let proxy: RunningProxy

failOnFaults()

beforeEach(async () => {
  engine = await startRawEngineDouble()
  // long times, so that a request that never settles makes the test hang and fail
  proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 600, groupWindowMilliseconds: 60_000 })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** Expects nothing to remain of departed clients: the engine's work has ended, and the next request is answered. */
async function expectNothingLeft(path: string): Promise<void> {
  await until(() => [...engine.used].every((socket) => socket.closed))
  engine.behave({ onRequest: (socket) => socket.write(rawAnswer('{"ok":true}')) })
  const response = await postJson(proxy.url + path, ragRequest('after the fault', ['a', 'b']))
  expect(await response.json()).toEqual({ ok: true })
  const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^reprise_queue_depth 0$/m)
  expect(metrics).toMatch(/^reprise_body_bytes 0$/m)
}

function connectMany(count: number): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, () => connectRaw(proxy.url)))
}

describe.each(routes)('clients of %s that leave', (path) => {
  const whole = (i: number): string => rawPost(path, ragRequest(`q${i}`, ['a', 'b', String(i)]))

  test('at any byte of their request leave nothing behind, and the engine gets no half request', async () => {
    const clients = await connectMany(60)
    for (const [i, client] of clients.entries()) {
      client.write(whole(i).slice(0, Math.floor((i / clients.length) * whole(i).length)))
      setTimeout(client.reset, i % 7)
    }
    await Promise.all(clients.map(({ ended }) => ended))
    await delay(50)
    expect(engine.requestCount).toBe(0)
    await expectNothingLeft(path)
  })

  test('before the head of the answer abort the engine’s work', async () => {
    // all share a block, so most of them wait for the first
    const clients = await connectMany(30)
    for (const [i, client] of clients.entries()) client.write(whole(i))
    await until(() => engine.requestCount >= 1)
    for (const client of clients) client.reset()
    await expectNothingLeft(path)
  })

  test.each([
    ['in the middle of a stream', `${headOfStream}11\r\ndata: {"a":1}\n\nda\r\n`, 'data: {'],
    ['behind the head alone', headOfStream, 'text/event-stream'],
    ['in the middle of an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":', '{"half":'],
  ])('%s abort the engine’s work', async (_when, sent, awaited) => {
    engine.behave({ onRequest: (socket) => socket.write(sent) })
    for (let i = 0; i < 10; i++) {
      const client = await connectRaw(proxy.url)
      client.write(whole(i))
      await client.until(awaited)
      if (i % 2 === 0) client.reset()
      else client.socket.destroy()
    }
    await expectNothingLeft(path)
  })

  test('with a second request already sent on the same connection leave nothing behind', async () => {
    const clients = await connectMany(10)
    for (const [i, client] of clients.entries()) client.write(whole(2 * i) + whole(2 * i + 1))
    await until(() => engine.requestCount >= 1)
    for (const client of clients) client.reset()
    await expectNothingLeft(path)
  })

  test('as the answer arrives leave nothing behind', async () => {
    engine.behave({ onRequest: (socket) => socket.write(rawAnswer(Buffer.alloc(300_000, 'x'))) })
    const clients = await connectMany(30)
    for (const [i, client] of clients.entries()) {
      client.write(whole(i))
      client.socket.once('data', () => client.reset())
    }
    await Promise.all(clients.map(({ ended }) => ended))
    for (const socket of engine.sockets) socket.end()
    await expectNothingLeft(path)
  })
})

test('a client that leaves while it waits in the queue is not sent to the engine', async () => {
  const first = await connectRaw(proxy.url)
  first.write(rawPost(chat, ragRequest('q', ['a', 'b'])))
  await until(() => engine.requestCount === 1)
  const waiting = await connectMany(10)
  for (const [i, client] of waiting.entries()) client.write(rawPost(chat, ragRequest(`q${i}`, ['a', 'b'])))
  await until(async () => {
    return /^reprise_queue_depth 10$/m.test(await (await fetch(`${proxy.adminUrl}/metrics`)).text())
  })
  for (const client of waiting) client.reset()
  await until(async () => {
    return /^reprise_queue_depth 0$/m.test(await (await fetch(`${proxy.adminUrl}/metrics`)).text())
  })
  engine.sockets[0]!.write(rawAnswer('"for the first"'))
  await first.until('"for the first"')
  expect(engine.requestCount).toBe(1)
  first.reset()
  engine.sockets[0]!.end()
  await expectNothingLeft(chat)
})

test('a body that passes, is read for its model and breaks off takes no memory any more', async () => {
  await proxy.close()
  proxy = await startTestProxy({ url: engine.url }, { aliases: [{ name: 'small', models: ['m'] }] })
  const bodyBytes = async (): Promise<string | undefined> =>
    /^reprise_body_bytes (\d+)$/m.exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())?.[1]
  const client = await connectRaw(proxy.url)
  client.write(rawPost('/v1/embeddings', ragRequest('q', ['a', 'b'])).slice(0, -10))
  await until(async () => (await bodyBytes()) !== '0')
  client.reset()
  await until(async () => (await bodyBytes()) === '0')
})

describe.each(routes)('slow clients of %s', (path) => {
  test('may take their time for every byte of a request; others are served meanwhile', async () => {
    engine.behave({ onRequest: (socket, _head, body) => socket.write(rawAnswer(body)) })
    const request = rawPost(path, { messages: [{ role: 'user', content: 'é slow' }] }, ['connection: close'])
    const client = await connectRaw(proxy.url)
    for (const byte of Buffer.from(request)) {
      client.write(Buffer.of(byte))
      await delay(1)
      if (byte === 0x0a) expect((await postJson(proxy.url + path, ragRequest('other', ['c']))).status).toBe(200)
    }
    const [, body] = (await client.ended).split('\r\n\r\n')
    expect(Buffer.from(body!, 'latin1').toString()).toBe('{"messages":[{"role":"user","content":"é slow"}]}')
  })

  test('may send in chunks, and get the answer to all of them', async () => {
    engine.behave({ onRequest: (socket) => socket.write(rawAnswer('"whole"')) })
    const client = await connectRaw(proxy.url)
    client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`)
    for (const piece of ['{"mess', 'ages":[]', '}']) {
      client.write(`${piece.length.toString(16)};ext=1\r\n${piece}\r\n`)
      await delay(10)
    }
    expect(engine.requestCount).toBe(0)
    client.write('0\r\ntrailer: x\r\n\r\n')
    expect(await client.ended).toMatch(/^HTTP\/1\.1 200 .*"whole"$/s)
  })
})

describe('a request above the body limit', () => {
  beforeEach(async () => {
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 600, limits: { body_bytes: 100_000 } })
  })

  test.each([
    ['a declared length', (text: string) => text],
    ['chunks', (text: string) => new Blob([text]).stream()],
  ])('is answered although the client goes on sending: %s', async (_how, wrap) => {
    for (let i = 0; i < 5; i++) {
      const body = wrap(JSON.stringify(ragRequest('q', ['x'.repeat(20_000_000)])))
      const response = await fetch(proxy.url + chat, { method: 'POST', body, duplex: 'half' } as RequestInit)
      expect(response.status).toBe(413)
      expect((await errorOf(response)).code).toBe('body_too_large')
    }
    expect(engine.requestCount).toBe(0)
  })

  test('reaches a client that reads only once it has sent all', async () => {
    const client = await connectRaw(proxy.url)
    client.socket.pause()
    const request = rawPost(chat, ragRequest('q', ['x'.repeat(20_000_000)]))
    await new Promise<void>((resolve, reject) => {
      client.socket.on('close', () => reject(new Error('cut off while it was sending')))
      client.socket.write(request, () => resolve())
    })
    client.socket.resume()
    await client.until('body_too_large')
    client.reset()
  })

  test('is not read for ever', async () => {
    const client = await connectRaw(proxy.url)
    client.write(`POST ${chat} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`)
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')])
    let sent = 0
    while (!client.socket.destroyed && sent < 400) {
      sent += 1
      if (!client.socket.write(chunk)) await Promise.race([once(client.socket, 'drain').catch(() => {}), client.ended])
    }
    expect(sent).toBeLessThan(400)
  })
})
