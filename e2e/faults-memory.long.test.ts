import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectRaw } from './raw-client.ts'
import { startRawEngineDouble } from './raw-engine-double.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { peakMemory, type RunningReprise, startReprise } from './start-reprise.ts'
import { ragRequest } from './start-test-proxy.ts'

const megabyte = 1024 * 1024
/**
 * How much a proxy's memory may grow with 400 MB or more in transit: socket buffers and what the garbage collector has
 * not yet freed. Measured: up to 70 MB on Node 20 and 125 MB on Node 24.
 */
const mostHeld = 200 * megabyte
const routes = ['/v1/chat/completions', '/v1/embeddings']
const types = ['text/event-stream', 'application/json']

let engine: RecordingEngineDouble
let reprise: RunningReprise

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  reprise = await startReprise(['--engine', engine.url])
})
afterEach(async () => {
  reprise.child.kill('SIGKILL')
  expect(reprise.stderr).not.toMatch(/unhandled|uncaught|\n {4}at /i)
  await engine.close()
})

/** Writes as fast as the reader reads; counts the bytes written and the pauses. */
class Flood {
  written = 0
  pauses = 0
  readonly hash: Hash = createHash('sha256')

  async pour(response: ServerResponse, bytes: number): Promise<void> {
    while (this.written < bytes && !response.destroyed) {
      // all pieces differ, so that a lost or repeated one is detected
      const piece = Buffer.alloc(64 * 1024, `data: ${this.written} `)
      this.written += piece.length
      this.hash.update(piece)
      if (response.write(piece)) continue
      this.pauses += 1
      await drainedOrClosed(response)
    }
    response.end()
  }
}

function drainedOrClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    response.on('drain', settle)
    response.on('close', settle)
  })
}

async function post(path: string): Promise<IncomingMessage> {
  const outgoing = httpRequest(reprise.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  outgoing.end(JSON.stringify(ragRequest('q', ['a', 'b'])))
  const [incoming] = await once(outgoing, 'response')
  return incoming
}

async function hashOf(incoming: IncomingMessage): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of incoming) hash.update(chunk)
  return hash.digest('hex')
}

describe.runIf(process.platform === 'linux').each(routes)('%s, in bounded memory,', (path) => {
  test.each(types)('passes answers of 100 MB, several at once: %s', async (type) => {
    const floods: Flood[] = []
    engine.answer(async (response) => {
      response.writeHead(200, { 'content-type': type, 'x-flood': String(floods.length) })
      const flood = new Flood()
      floods.push(flood)
      await flood.pour(response, 100 * megabyte)
    })
    const before = peakMemory(reprise.child.pid!)
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const incoming = await post(path)
        return { flood: Number(incoming.headers['x-flood']), hash: await hashOf(incoming) }
      }),
    )
    for (const { flood, hash } of answers) expect(hash).toBe(floods[flood]!.hash.digest('hex'))
    expect(new Set(answers.map(({ flood }) => flood)).size).toBe(4)
    expect(peakMemory(reprise.child.pid!) - before).toBeLessThan(mostHeld)
  })

  test('makes an engine of 200 MB wait for clients that read slowly', async () => {
    const floods: Flood[] = []
    engine.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const flood = new Flood()
      floods.push(flood)
      await flood.pour(response, 200 * megabyte)
    })
    const before = peakMemory(reprise.child.pid!)
    const clients = await Promise.all(Array.from({ length: 4 }, () => post(path)))
    for (const client of clients) client.pause()
    await delay(500)
    const stalled = floods.map(({ written }) => written)
    await delay(500)
    expect(floods.map(({ written }) => written)).toEqual(stalled)
    for (const flood of floods) expect([flood.written < 50 * megabyte, flood.pauses > 0]).toEqual([true, true])
    expect(peakMemory(reprise.child.pid!) - before).toBeLessThan(mostHeld)
    // one client resumes and receives everything, despite its long pause
    const [first, ...others] = clients
    for (const other of others) other.destroy()
    const hash = await hashOf(first!)
    const whole = floods.filter(({ written }) => written === 200 * megabyte)
    expect(whole.map((flood) => flood.hash.digest('hex'))).toEqual([hash])
    expect(peakMemory(reprise.child.pid!) - before).toBeLessThan(mostHeld)
  })
})

describe.runIf(process.platform === 'linux')('an upload that passes', () => {
  test('waits for an engine that does not read, in bounded memory', async () => {
    const deaf = await startRawEngineDouble({ onConnection: (socket) => socket.pause() })
    const proxy = await startReprise(['--engine', deaf.url])
    const before = peakMemory(proxy.child.pid!)
    const client = await connectRaw(proxy.url)
    client.write(`POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: ${200 * megabyte}\r\n\r\n`)
    let sent = 0
    const send = (): void => {
      while (sent < 200) {
        sent += 1
        if (!client.socket.write(Buffer.alloc(megabyte))) break
      }
    }
    client.socket.on('drain', send)
    send()
    await delay(1_000)
    const stalled = sent
    await delay(500)
    expect(sent).toBe(stalled)
    expect(sent).toBeLessThan(50)
    expect(peakMemory(proxy.child.pid!) - before).toBeLessThan(mostHeld)
    client.reset()
    proxy.child.kill('SIGKILL')
    await deaf.close()
  })
})
