import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createEngineClient, type EngineClient } from '#engine-adapters/engine-client.ts'
import { checkHealth, HealthState } from './health-checks.ts'

let answer: RequestListener = (_incoming, response) => response.end()
let server: Server
let engine: EngineClient
let closing: AbortController
let ticking: NodeJS.Timeout
const asked: string[] = []

async function start(): Promise<HealthState> {
  asked.length = 0
  server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    answer(incoming, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  engine = createEngineClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  const health = new HealthState()
  const targets = [{ engine, health }]
  closing = new AbortController()
  const options = { intervalMilliseconds: 20, timeoutMilliseconds: 200 }
  const check = checkHealth(() => targets, options, closing.signal)
  ticking = setInterval(() => check(performance.now()), 5)
  return health
}

const becomes = (health: HealthState, isHealthy: boolean): Promise<void> =>
  vi.waitFor(() => expect(health.isHealthy).toBe(isHealthy), { timeout: 10_000, interval: 5 })

afterEach(async () => {
  clearInterval(ticking)
  closing.abort()
  await engine.close()
  server.closeAllConnections()
  if (!server.listening) return
  server.close()
  await once(server, 'close')
})

test('an engine that starts, hangs and comes back is healthy when it answers', async () => {
  answer = (_incoming, response) => response.writeHead(503).end('{"status":"loading"}')
  const health = await start()
  await becomes(health, false)
  answer = (_incoming, response) => response.writeHead(200).end()
  await becomes(health, true)
  answer = () => {}
  await becomes(health, false)
  answer = (_incoming, response) => response.writeHead(200).end()
  await becomes(health, true)
  // an engine's health path is at its root, not below the prefix of its API
  expect(new Set(asked)).toEqual(new Set(['GET /health']))
})

test('an answer that never ends is broken off', async () => {
  answer = (_incoming, response) => void response.writeHead(200).write('…')
  const health = await start()
  await becomes(health, false)
})

test('an engine that is gone is unhealthy', async () => {
  answer = (_incoming, response) => response.end()
  const health = await start()
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(2))
  expect(health.isHealthy).toBe(true)
  server.closeAllConnections()
  server.close()
  await becomes(health, false)
})
