import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from 'node:net'
import { Pool } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { createEngineClient, type EngineClient } from '#engine-adapters/engine-client.ts'
import { decideRetry, type FailedAttempt } from './retry-policy.ts'

/** Tests what undici really reports when a connection fails, since the safety of a retry depends on it. */

const body = Buffer.alloc(100_000, 'a')
const first = { made: 1, hasRepeated: false, hasOther: false }
const servers: (Server | HttpServer)[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (!server.listening) continue
    server.close()
    await once(server, 'close')
  }
})

async function listen(server: Server | HttpServer): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function listenRaw(serve: (socket: Socket) => void): Promise<number> {
  return listen(
    createServer((socket) => {
      socket.on('error', () => {})
      serve(socket)
    }),
  )
}

/** Sends a request and returns how it failed; the tests check `code` and `status`. */
function attempt(engine: Pick<EngineClient, 'send'>): Promise<FailedAttempt & { code?: string; status?: number }> {
  let wasSent = false
  let status: number | undefined
  const failed = (error: unknown): FailedAttempt => ({ cause: error, wasSent })
  return new Promise((resolve) =>
    engine.send(
      { path: '/v1/chat/completions', method: 'POST', headers: ['content-type', 'application/json'], body },
      {
        onRequestStart: () => {
          wasSent = true
        },
        onResponseStart: (_controller, code) => {
          status = code
        },
        onResponseData: () => {},
        onResponseEnd: () => resolve({ ...failed(undefined), ...(status === undefined ? {} : { status }) }),
        onResponseError: (_controller, error) =>
          resolve({ ...failed(error), code: (error as { code?: string }).code! }),
      },
    ),
  )
}

async function attemptAt(url: string): ReturnType<typeof attempt> {
  const engine = createEngineClient(url)
  try {
    return await attempt(engine)
  } finally {
    await engine.close()
  }
}

/** Attempts a request on a connection with the test's own host lookup. */
async function attemptWith(lookup: LookupFunction): ReturnType<typeof attempt> {
  const pool = new Pool('http://engine.invalid', { connect: { timeout: 100, lookup } })
  try {
    return await attempt({ send: (request, handler) => void pool.dispatch(request, handler) })
  } finally {
    await pool.destroy()
  }
}

test('nothing listens: tried again', async () => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  const failed = await attemptAt(`http://127.0.0.1:${port}`)
  expect(failed).toMatchObject({ wasSent: false, code: 'ECONNREFUSED' })
  expect(decideRetry(failed, first)).toBe('same')
})

test('nothing listens on any of the addresses of a name: tried again', async () => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  const pool = new Pool(`http://engine.invalid:${port}`, {
    connect: {
      lookup: (_host, _options, callback) =>
        callback(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    },
  })
  const failed = await attempt({ send: (request, handler) => void pool.dispatch(request, handler) })
  await pool.destroy()
  expect(failed).toMatchObject({ wasSent: false, code: 'ECONNREFUSED' })
  expect(decideRetry(failed, first)).toBe('same')
})

test('the name is unknown: tried again', async () => {
  const failed = await attemptWith((_host, _options, callback) =>
    callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }), ''),
  )
  expect(failed).toMatchObject({ wasSent: false, code: 'ENOTFOUND' })
  expect(decideRetry(failed, first)).toBe('same')
})

test('no connection in time: tried again, but not on the same replica', async () => {
  const failed = await attemptWith(() => {})
  expect(failed).toMatchObject({ wasSent: false, code: 'UND_ERR_CONNECT_TIMEOUT' })
  expect(decideRetry(failed, { ...first, hasOther: true })).toBe('other')
  expect(decideRetry(failed, first)).toBeUndefined()
})

test('what listens does not speak TLS: tried again', async () => {
  const port = await listen(createHttpServer())
  const failed = await attemptAt(`https://127.0.0.1:${port}`)
  expect(failed.wasSent).toBe(false)
  expect(failed.code).toMatch(/^(ERR_SSL_|EPROTO)/)
  expect(decideRetry(failed, { ...first, hasOther: true })).toBe('other')
})

test('the connection is broken off during the TLS handshake: tried again', async () => {
  const port = await listenRaw((socket) => socket.once('data', () => socket.end()))
  const failed = await attemptAt(`https://127.0.0.1:${port}`)
  expect(failed).toMatchObject({ wasSent: false, code: 'ECONNRESET' })
  expect(decideRetry(failed, first)).toBe('same')
})

test('the engine resets the connection when the request begins: never tried again', async () => {
  const port = await listenRaw((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const failed = await attemptAt(`http://127.0.0.1:${port}`)
  expect(failed.wasSent).toBe(true)
  expect(decideRetry(failed, { ...first, hasOther: true })).toBeUndefined()
})

test('the engine resets the connection at once: tried again only if nothing was written yet', async () => {
  const port = await listenRaw((socket) => socket.resetAndDestroy())
  // the operating system decides when the reset is seen
  const failed = await attemptAt(`http://127.0.0.1:${port}`)
  expect(failed.cause).toBeInstanceOf(Error)
  expect(decideRetry(failed, first)).toBe(failed.wasSent ? undefined : 'same')
})

test('the engine resets the connection when it has read the body: the same code, and never tried again', async () => {
  const port = await listenRaw((socket) => {
    let read = 0
    socket.on('data', ({ length }) => {
      read += length
      if (read > body.length) socket.resetAndDestroy()
    })
  })
  const failed = await attemptAt(`http://127.0.0.1:${port}`)
  expect(failed).toMatchObject({ wasSent: true, code: 'ECONNRESET' })
  expect(decideRetry(failed, { ...first, hasOther: true })).toBeUndefined()
})

test('the engine closes the connection without an answer: never tried again', async () => {
  const port = await listenRaw((socket) => socket.once('data', () => socket.end()))
  const failed = await attemptAt(`http://127.0.0.1:${port}`)
  expect(failed).toMatchObject({ wasSent: true, code: 'UND_ERR_SOCKET' })
  expect(decideRetry(failed, { ...first, hasOther: true })).toBeUndefined()
})

test('a connection that was kept alive and is gone when it is used again: never tried again once written to', async () => {
  let requests = 0
  const port = await listen(
    createHttpServer((incoming, response) => {
      requests += 1
      if (requests > 1) incoming.socket.resetAndDestroy()
      else incoming.resume().on('end', () => response.end('{}'))
    }),
  )
  const engine = createEngineClient(`http://127.0.0.1:${port}`)
  expect(await attempt(engine)).toMatchObject({ status: 200 })
  const failed = await attempt(engine)
  await engine.close()
  expect([failed.wasSent, requests]).toEqual([true, 2])
  expect(decideRetry(failed, { ...first, hasOther: true })).toBeUndefined()
})

test('a client that is closed is no reason to try again', async () => {
  const engine = createEngineClient('http://127.0.0.1:1')
  await engine.close()
  const failed = await attempt(engine)
  expect(failed).toMatchObject({ wasSent: false, code: 'UND_ERR_DESTROYED' })
  expect(decideRetry(failed, { ...first, hasOther: true })).toBeUndefined()
})
