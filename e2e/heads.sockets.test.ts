import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RawEngineDouble, rawAnswer, startRawEngineDouble } from './raw-engine-double.ts'
import { startTestProxy } from './start-test-proxy.ts'
import { failOnFaults } from './watch-faults.ts'

const routes = ['/v1/chat/completions', '/v1/files']
const request = { messages: [{ role: 'user', content: 'a question' }] }

let engine: RawEngineDouble
let proxy: RunningProxy

failOnFaults()

beforeEach(async () => {
  engine = await startRawEngineDouble()
  proxy = await startTestProxy({ url: engine.url })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** Returns what a client reads of the answer that the engine writes. */
async function answerTo(path: string, write: (socket: Socket) => void, head: string[] = []): Promise<string> {
  engine.behave({ onRequest: write })
  const client = await connectRaw(proxy.url)
  client.write(rawPost(path, request, ['connection: close', ...head]))
  return await client.ended
}

/** Returns the head that the engine gets of a request, which it answers with 200. */
async function headAtEngine(target: string, head: string[] = []): Promise<string> {
  let received = ''
  engine.behave({
    onRequest: (socket, atEngine) => {
      received = atEngine
      socket.write(rawAnswer('{}'))
    },
  })
  const client = await connectRaw(proxy.url)
  client.write(rawPost(target, request, ['connection: close', ...head]))
  expect(await client.ended).toMatch(/^HTTP\/1\.1 200 /)
  return received
}

test.each(routes)(
  "the engine's headers are passed on byte for byte, also when its head comes alone: %s",
  async (path) => {
    const body = Buffer.from('{}')
    const head = `HTTP/1.1 200 OK\r\ncontent-disposition: attachment; filename="\xe9.txt"\r\nx-utf8: \xc3\xa9\r\n`
    const answer = await answerTo(path, (socket) => {
      socket.write(Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`, 'latin1'))
      setTimeout(() => socket.write(body), 50)
    })
    expect(answer).toContain('filename="\xe9.txt"\r\nx-utf8: \xc3\xa9\r\n')
  },
)

test.each(routes)('what the engine sends behind its answer reaches the client: %s', async (path) => {
  const chunks = '2\r\n{}\r\n0\r\nx-checksum: 42\r\n\r\n'
  const answer = await answerTo(path, (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`),
  )
  expect(answer).toMatch(/2\r\n\{\}\r\n0\r\nx-checksum: 42\r\n\r\n$/)
})

test.each(routes)('heads of 40 KB pass both ways: %s', async (path) => {
  const long = 'y'.repeat(40_000)
  let received = ''
  engine.behave({
    onRequest: (socket, head) => {
      received = head
      socket.write(rawAnswer('{}', `x-long: ${long}`))
    },
  })
  const client = await connectRaw(proxy.url)
  client.write(rawPost(path, request, ['connection: close', `x-asked: ${long}`]))
  expect(await client.ended).toContain(`x-long: ${long}\r\n`)
  expect(received).toContain(`x-asked: ${long}\r\n`)
})

test('an engine that answers while the body comes is heard by a client that goes on sending', async () => {
  engine.behave({
    onHead: (socket) =>
      socket.end('HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig'),
  })
  const client = await connectRaw(proxy.url)
  client.write('POST /v1/files HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 8000000\r\n\r\n')
  client.write(Buffer.alloc(1_000_000))
  await client.until('big')
  let isReset = false
  client.socket.on('error', () => (isReset = true))
  client.write(Buffer.alloc(7_000_000))
  expect(await client.ended).toMatch(/^HTTP\/1\.1 413 .*big$/s)
  expect(isReset).toBe(false)
})

test('an empty X-Request-Id is as good as none: the answer bears the one that the engine got', async () => {
  let received = ''
  engine.behave({
    onRequest: (socket, head) => {
      received = /^x-request-id: (.+)$/im.exec(head)?.[1] ?? ''
      socket.write(rawAnswer('{}'))
    },
  })
  const client = await connectRaw(proxy.url)
  client.write(rawPost(routes[0]!, request, ['connection: close', 'x-request-id:']))
  expect(await client.ended).toMatch(new RegExp(`^x-request-id: ${received}\r$`, 'm'))
  expect(received).toMatch(/^[\w-]{8,}$/)
})

test.each(routes)('no header is lost, however many there are: %s', async (path) => {
  const many = Array.from({ length: 3_000 }, (_, i) => `x-${i}: y`)
  const received = await headAtEngine(path, [...many, 'x-last: here'])
  expect(received.match(/\r\nx-\d+: y/g)).toHaveLength(3_000)
  expect(received).toContain('x-last: here')
})

test.each([
  ['/v1/chat/completions', 'http://gateway.example/v1/chat/completions'],
  ['/v1/files?limit=2', 'HTTP://gateway.example:8080/v1/files?limit=2'],
  ['/', 'http://gateway.example'],
  ['/?limit=2', 'http://gateway.example?limit=2'],
])('a request line with the whole URL asks the engine for its path: %s', async (path, url) => {
  const received = await headAtEngine(url)
  expect(received).toMatch(/^POST \S+ HTTP/)
  expect(received.split(' ', 2)[1]).toBe(path)
})

test.each([...routes, '/v1/chat/completions/'])(
  'a redirect to the engine itself leads to the proxy: %s',
  async (path) => {
    for (const [status, name] of [
      ['307 Temporary Redirect', 'location'],
      ['201 Created', 'Location'],
      ['200 OK', 'content-location'],
    ]) {
      const head = `HTTP/1.1 ${status}\r\n${name}: ${engine.url}${path}?a=1\r\ncontent-length: 0\r\n\r\n`
      const answer = await answerTo(path, (socket) => socket.write(head))
      expect(answer).toMatch(new RegExp(`\r\n${name}: ${path}\\?a=1\r\n`, 'i'))
      expect(answer).not.toContain(new URL(engine.url).port)
    }
  },
)

test.each(routes)('a redirect to another server is passed on: %s', async (path) => {
  const elsewhere = 'https://files.example/v1/x?a=%20'
  const head = `HTTP/1.1 303 See Other\r\nlocation: ${elsewhere}\r\ncontent-length: 0\r\n\r\n`
  expect(await answerTo(path, (socket) => socket.write(head))).toContain(`\r\nlocation: ${elsewhere}\r\n`)
})
