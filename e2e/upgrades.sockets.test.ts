import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { metricOf } from './placed-blocks.ts'
import { connectRaw, type RawClient, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { errorOf, ragRequest, startTestProxy } from './start-test-proxy.ts'
import { failOnFaults, until } from './watch-faults.ts'

const agreed =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nsec-websocket-accept: s3\r\n\r\n'

let engine: RawEngineDouble
let proxy: RunningProxy
/** the head of each request that reached the engine, and its connection */
let heads: string[]
let joined: Socket[]

failOnFaults()

beforeEach(async () => {
  heads = []
  joined = []
  engine = await startRawEngineDouble()
  engineDoes((socket) => {
    socket.write(`${agreed}hello`)
    socket.on('data', (bytes) => socket.write(bytes))
  })
  proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 600 })
})
afterEach(async () => {
  await engine.close()
  await proxy.close()
})

function engineDoes(answer: (socket: Socket) => void): void {
  engine.behave({
    onRequest: (socket, head) => {
      heads.push(head)
      joined.push(socket)
      answer(socket)
    },
  })
}

function askFor(path: string, ...head: string[]): string {
  const asked = ['host: proxy', 'connection: keep-alive, Upgrade', 'upgrade: websocket', 'sec-websocket-key: dGhl']
  return `${[`GET ${path} HTTP/1.1`, ...asked, ...head].join('\r\n')}\r\n\r\n`
}

async function open(...head: string[]): Promise<RawClient> {
  const client = await connectRaw(proxy.url)
  client.write(askFor('/v1/realtime?model=m', ...head))
  return client
}

const outcomes = (outcome: string): Promise<number> =>
  metricOf(proxy.adminUrl, `reprise_requests_total{route="pass_through",outcome="${outcome}"}`)

describe('a request to go on as a WebSocket', () => {
  test('joins the client and the engine, byte for byte', async () => {
    const client = await open('sec-websocket-protocol: realtime', 'authorization: Bearer k', 'x-reprise-priority: 1')
    await client.until('hello')
    const [head] = client.received.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(head!.toLowerCase().split('\r\n').slice(1).sort()).toEqual([
      'connection: upgrade',
      'sec-websocket-accept: s3',
      'upgrade: websocket',
    ])
    expect(heads[0]).toMatch(/^GET \/v1\/realtime\?model=m HTTP\/1\.1\r\n/)
    const sent = heads[0]!.toLowerCase().split('\r\n')
    for (const line of ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-key: dghl']) {
      expect(sent.filter((one) => one === line)).toHaveLength(1)
    }
    expect(sent).toContain('sec-websocket-protocol: realtime')
    expect(sent).toContain('authorization: bearer k')
    expect(heads[0]!.match(/x-reprise-[a-z]+/g)).toEqual(['x-reprise-hops'])
    client.write(Buffer.from([0x81, 0x00, 0xff, 0x0d, 0x0a]))
    await client.until('hello\x81\x00\xff\r\n')
    client.socket.end()
    await client.ended
    await until(async () => (await outcomes('finished')) === 1)
  })

  test('takes what the client has sent before it was answered along', async () => {
    const client = await connectRaw(proxy.url)
    client.write(`${askFor('/v1/realtime')}early`)
    await client.until('helloearly')
    client.reset()
  })

  test('is answered by the engine when it refuses', async () => {
    engineDoes((socket) => {
      socket.write(
        'HTTP/1.1 426 Upgrade Required\r\nupgrade: h3\r\nconnection: upgrade\r\ncontent-length: 3\r\n\r\nno!',
      )
    })
    const client = await open()
    expect(await client.ended).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n[\s\S]*\r\n\r\nno!$/)
    expect(await outcomes('engine_error')).toBe(1)
  })

  test('is answered like any other when the engine knows nothing of it', async () => {
    engineDoes((socket) => socket.write(rawAnswer('{"plain":1}')))
    expect(await (await open()).ended).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"plain":1\}$/)
  })

  test.each([
    ['with the head', agreed.replace('s3', 's\x01'), /^$|^HTTP\/1\.1 50[02] /],
    ['with nothing', '', /^HTTP\/1\.1 502 [\s\S]*"engine_unreachable"/],
  ])('gets an end of its own when the engine breaks off %s', async (_, bytes, answer) => {
    engineDoes((socket) => socket.end(bytes))
    expect(await (await open()).ended).toMatch(answer)
  })

  test('is a 502 without an engine and a 503 while the proxy is draining', async () => {
    await engine.close()
    expect(await (await open()).ended).toMatch(/^HTTP\/1\.1 502 [\s\S]*"code":"engine_unreachable"/)
    engine = await startRawEngineDouble()
    const kept = await connectRaw(proxy.url)
    kept.write('POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n')
    await delay(100)
    const closed = proxy.close()
    expect(await (await open()).ended).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"draining"/)
    kept.reset()
    await closed
  })
})

describe('joined connections', () => {
  test.each([
    ['end', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('end with the %s of either', async (_, leave) => {
    for (const side of ['client', 'engine']) {
      const client = await open()
      await client.until('hello')
      const theirs = joined.at(-1)!
      leave(side === 'client' ? client.socket : theirs)
      await client.ended
      await until(() => theirs.destroyed)
    }
  })

  test('carry what was sent before an end to its end, however slowly it is read', async () => {
    const size = 24_000_000
    engineDoes((socket) => {
      socket.write(agreed)
      socket.end(Buffer.alloc(size, 'x'))
    })
    const client = await open()
    await once(client.socket, 'data')
    client.socket.pause()
    await delay(300)
    // only as much as the socket buffers hold has been sent on
    expect(joined.at(-1)!.writableLength).toBeGreaterThan(1_000_000)
    client.socket.resume()
    expect((await client.ended).split('\r\n\r\n')[1]).toHaveLength(size)
  })

  test('hold back a client that is faster than the engine', async () => {
    engineDoes((socket) => {
      socket.write(agreed)
      socket.pause()
    })
    const client = await open()
    await client.until('\r\n\r\n')
    client.write(Buffer.alloc(24_000_000))
    await delay(300)
    expect(client.socket.writableLength).toBeGreaterThan(1_000_000)
    client.reset()
    await until(() => joined.at(-1)!.resume().destroyed)
  })

  test.each([
    ['end', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('are not made for a client that leaves before, by an %s', async (_, leave) => {
    engineDoes(() => {})
    const client = await open()
    await until(() => heads.length === 1)
    leave(client.socket)
    await until(() => joined.at(-1)!.destroyed)
    await until(async () => (await outcomes('client_left')) === 1)
  })

  test('end when the time to drain is over, and are waited for until then', async () => {
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url }, { drain_seconds: 1 })
    const client = await open()
    await client.until('hello')
    const began = performance.now()
    const closed = proxy.close()
    client.write('still here')
    await client.until('still here')
    await client.ended
    await closed
    expect(performance.now() - began).toBeGreaterThan(900)
    await until(() => joined.at(-1)!.destroyed)
  })
})

describe('what is no request to go on as a WebSocket', () => {
  const prompt = ragRequest('q', ['a', 'b'])

  test('is answered as before: another protocol, another method, a body, HTTP/1.0', async () => {
    engineDoes((socket) => socket.write(rawAnswer('{"plain":1}')))
    const h2c = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQ']
    const asked = ['connection: Upgrade', 'upgrade: websocket']
    for (const request of [
      rawPost('/v1/chat/completions', prompt, h2c),
      rawPost('/v1/embeddings', prompt, asked),
      rawPost('/v1/embeddings', prompt, asked).replace('POST', 'GET'),
      `GET /v1/models HTTP/1.0\r\nuser-agent: test\r\n${asked.join('\r\n')}\r\n\r\n`,
    ]) {
      const client = await connectRaw(proxy.url)
      client.write(request)
      await client.until('{"plain":1}')
      client.reset()
    }
    expect(heads.join('\n').toLowerCase()).not.toContain('upgrade')
  })

  test('goes on as HTTP when it comes while another is being answered', async () => {
    let answers = 0
    engineDoes((socket) => {
      answers += 1
      const own = rawAnswer(`{"answer":${answers}}`)
      setTimeout(() => socket.write(own), 50)
    })
    const client = await connectRaw(proxy.url)
    client.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nuser-agent: test\r\n\r\n${askFor('/v1/realtime')}`)
    await client.until('{"answer":2}')
    expect(client.received).toMatch(/200[\s\S]*\{"answer":1\}[\s\S]*200[\s\S]*\{"answer":2\}/)
    expect(heads.join('\n').toLowerCase()).not.toContain('upgrade')
    client.reset()
  })
})

test('keys are asked for and stay here, and the engine is shown its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-upgrades-'))
  const file = join(folder, 'keys.json')
  const sha256 = createHash('sha256').update('sk-1').digest('hex')
  writeFileSync(file, JSON.stringify({ keys: [{ tenant: 't', sha256 }] }))
  await proxy.close()
  proxy = await startTestProxy(
    { url: engine.url, api_key: 'of-the-engine' },
    { keys: { file, forward_client_authorization: false } },
  )
  rmSync(folder, { recursive: true })
  const refused = await (await open()).ended
  expect(refused).toMatch(/^HTTP\/1\.1 401 [\s\S]*www-authenticate: Bearer/i)
  expect((await errorOf(new Response(refused.split('\r\n\r\n')[1]))).code).toBe('unauthorized')
  expect(heads).toEqual([])
  const client = await open('authorization: Bearer sk-1')
  await client.until('hello')
  expect(heads[0]).toContain('authorization: Bearer of-the-engine')
  expect(heads[0]).not.toContain('sk-1')
  client.reset()
})
