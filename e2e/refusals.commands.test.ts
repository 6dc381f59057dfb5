import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { keysIn } from './keys-file.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { logLines, Reprises, type RunningReprise, writeSettings } from './run-reprise.ts'
import { serveHere } from './serve-here.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const chat = '/v1/chat/completions'
const routes = [chat, '/v1/embeddings']
const reprises = new Reprises()
let folder: string
let engine: RawEngineDouble

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-refusals-'))
  engine = await startRawEngineDouble({ onRequest: (socket) => socket.write(rawAnswer('{}')) })
})
afterEach(async () => {
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

function settingsOf(settings: object): string {
  return writeSettings(folder, { engines: [{ url: engine.url, id: 'gpu-0' }], ...settings })
}

function start(settings: object = {}): Promise<RunningReprise> {
  return reprises.start(['serve', '--config', settingsOf(settings)])
}

const serve = (settings: object = {}): ReturnType<typeof serveHere> => serveHere(settingsOf(settings))

async function metricsOf({ listening }: RunningReprise): Promise<string> {
  return (await fetch(`${listening.admin_url}/metrics`)).text()
}

const upgrade = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n'

describe('a request that is refused unread has a line', () => {
  const shared = new Reprises()
  let proxy: RunningReprise
  let lines = 0
  let closeShared: () => Promise<void>
  beforeAll(async () => {
    const [silent, own] = [await startRawEngineDouble(), mkdtempSync(join(tmpdir(), 'reprise-refused-'))]
    proxy = await shared.start(['serve', '--config', writeSettings(own, { engines: [{ url: silent.url }] })])
    closeShared = async () => {
      shared.stopAll()
      expect(silent.requestCount).toBe(0)
      await silent.close()
      rmSync(own, { recursive: true })
    }
  })
  afterAll(() => closeShared())

  test.each([
    ['no host', `GET /v1/models HTTP/1.1\r\n\r\n`, 400, 'MISSING_HOST'],
    ['a body and no host', `POST ${chat} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}`, 400, 'MISSING_HOST'],
    ['two hosts', `GET /v1/models HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n`, 400, 'SEVERAL_HOSTS'],
    ['an upgrade and no host', `GET /v1/realtime HTTP/1.1\r\n${upgrade}\r\n`, 400, 'MISSING_HOST'],
    [
      'an upgrade with an expectation',
      `GET /a HTTP/1.1\r\nhost: x\r\nexpect: it\r\n${upgrade}\r\n`,
      417,
      'UNKNOWN_EXPECTATION',
    ],
    [
      'a coding that engines would not hear of',
      `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      501,
      'UNKNOWN_TRANSFER_CODING',
    ],
    ['an expectation', `GET /a HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\n\r\n`, 417, 'UNKNOWN_EXPECTATION'],
  ])('%s', async (_what, bytes, status, reason) => {
    const client = await connectRaw(proxy.listening.url!)
    client.write(bytes)
    expect(await client.ended).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, 'is'))
    const line = { client: '127.0.0.1', status, outcome: 'unreadable_request', reason }
    await vi.waitFor(() => expect(logLines(proxy, 'request').slice(lines)).toEqual([expect.objectContaining(line)]))
    lines += 1
  })

  test('behind others on its connection, in its turn', async () => {
    const proxy = await serve()
    const client = await connectRaw(proxy.listening.url!)
    client.write(`${rawPost('/v1/embeddings', {})}GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(await client.ended).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 400 /s)
    expect(engine.requestCount).toBe(1)
  })
})

describe('a client that waits before it sends its body', () => {
  const expectant = (path: string, length: number, head: string[] = []): string =>
    rawPost(path, '', [...head, 'expect: 100-continue', `content-length: ${length}`]).split('content-length: 2')[0]!

  test('is refused for its length at once', async () => {
    const proxy = await serve({ limits: { body_bytes: 1_000 } })
    const client = await connectRaw(proxy.listening.url!)
    client.write(`${expectant(chat, 1_001)}\r\n`)
    await client.until('body_too_large')
    expect(client.received).toMatch(/^HTTP\/1\.1 413 .*connection: close/is)
    client.reset()
  })

  test('is not asked for a body that has no right to come', async () => {
    const proxy = await serve({ keys: keysIn({ tenant: 'a', sha256: '0'.repeat(64) }) })
    for (const path of routes) {
      const client = await connectRaw(proxy.listening.url!)
      client.write(`${expectant(path, 10)}\r\n`)
      await client.until('"unauthorized"')
      expect(client.received).toMatch(/^HTTP\/1\.1 401 /)
      client.reset()
    }
  })
})

describe('a body that is too large', () => {
  test.each(['told', 'chunked'])('is refused for good, whose length is %s', async (length) => {
    const proxy = await serve({ limits: { body_bytes: 50_000 } })
    const body = JSON.stringify(ragRequest('q', ['x'.repeat(60_000)]))
    const answer = await fetch(proxy.listening.url + chat, {
      method: 'POST',
      body: length === 'told' ? body : new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([413, null])
    expect((await errorOf(answer)).code).toBe('body_too_large')
  })
})

describe('a body that comes too slowly', () => {
  test.each(routes)('is given up and counted: %s', async (path) => {
    const proxy = await startTestProxy({ url: engine.url }, { bodyStallSeconds: 1 })
    onTestFinished(() => proxy.close())
    const client = await connectRaw(proxy.url)
    client.write(rawPost(path, {}).replace(/content-length: .*$/s, 'content-length: 1000000\r\n\r\n{'))
    const drip = setInterval(() => client.write(' '), 50)
    await client.until('"body_too_slow"')
    clearInterval(drip)
    expect(client.received).toMatch(/^HTTP\/1\.1 408 .*connection: close/is)
    client.reset()
    const metrics = async (): Promise<string> => (await fetch(`${proxy.adminUrl}/metrics`)).text()
    await vi.waitFor(async () =>
      expect(await metrics()).toMatch(/reprise_requests_total\{[^}]*outcome="body_too_slow"\} 1/),
    )
    expect(await metrics()).toMatch(/^reprise_body_bytes 0$/m)
    // a connection to the engine that its request was begun on is closed
    await vi.waitFor(() => expect([...engine.used].every((socket) => socket.closed)).toBe(true))
  })
})

describe('a request that finds no engine has the reason in its line', () => {
  test.each([
    ['refused', undefined, /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/],
    ['broken off', (socket: { destroy(): unknown }) => socket.destroy(), /^other side closed$/],
    [
      'reset',
      (socket: { resetAndDestroy(): unknown }) => socket.resetAndDestroy(),
      /^(read|write) (ECONNRESET|EPIPE)$|^other side closed$/,
    ],
  ])('%s', async (_what, onRequest, reason) => {
    const proxy = await start()
    if (onRequest) engine.behave({ onRequest } as Parameters<RawEngineDouble['behave']>[0])
    else await engine.close()
    for (const path of routes) {
      const answer = await postJson(proxy.listening.url + path, ragRequest('q', ['a', 'b']))
      expect((await errorOf(answer)).code).toBe('engine_unreachable')
    }
    const line = { status: 502, outcome: 'engine_unreachable', reason: expect.stringMatching(reason) }
    await vi.waitFor(() =>
      expect(logLines(proxy, 'request')).toEqual([expect.objectContaining(line), expect.objectContaining(line)]),
    )
  })
})

describe('a body that turns out to be no HTTP', () => {
  test.each(routes)('is refused, counted and logged, on %s', async (path) => {
    const proxy = await start()
    const client = await connectRaw(proxy.listening.url!)
    client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n`)
    expect(await client.ended).toMatch(/^HTTP\/1\.1 400 .*connection: close/is)
    const line = { status: 400, outcome: 'unreadable_request', reason: 'HPE_INVALID_CHUNK_SIZE' }
    await vi.waitFor(() => expect(logLines(proxy, 'request')).toEqual([expect.objectContaining(line)]))
    expect(await metricsOf(proxy)).toMatch(/reprise_requests_total\{[^}]*outcome="unreadable_request"[^}]*\} 1/)
  })
})

describe('requests that do not wait for answers', () => {
  test('a WebSocket behind a request leaves its answer alone, and is no WebSocket', async () => {
    const proxy = await serve()
    const client = await connectRaw(proxy.listening.url!)
    client.write(`${rawPost('/v1/embeddings', {})}GET /v1/realtime HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n`)
    await vi.waitFor(() => expect(client.received.match(/HTTP\/1\.1 200/g)).toHaveLength(2))
    client.reset()
  })

  test('a hundred are answered in turn', async () => {
    const proxy = await serve()
    const client = await connectRaw(proxy.listening.url!)
    client.write(rawPost('/v1/embeddings', {}).repeat(100))
    await vi.waitFor(() => expect(client.received.match(/HTTP\/1\.1 200/g)).toHaveLength(100), 30_000)
    client.reset()
  })

  test('a client that sends them without end is cut off, with a line', async () => {
    const proxy = await start()
    const client = await connectRaw(proxy.listening.url!)
    client.write('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20_000))
    await client.ended
    const line = { client: '127.0.0.1', outcome: 'unreadable_request', reason: 'TOO_MANY_PIPELINED' }
    await vi.waitFor(() => expect(logLines(proxy, 'request')).toContainEqual(expect.objectContaining(line)))
    // most of what was read at once was dropped
    expect(engine.requestCount).toBeLessThan(2_000)
    expect((await fetch(`${proxy.listening.admin_url}/healthz`)).status).toBe(200)
  })
})
