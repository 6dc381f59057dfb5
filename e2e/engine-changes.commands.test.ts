import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { EngineConfig } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { documentRequest } from './placed-blocks.ts'
import { startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, startRedis } from './redis-server.ts'
import { Reprises, writeSettings } from './run-reprise.ts'
import { errorOf, postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
const reprises = new Reprises()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-engines-'))
})
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
  reprises.stopAll()
  rmSync(folder, { recursive: true })
})

async function startEngines(count: number): Promise<Emulator[]> {
  const local = { ...emulatorDefaults, host: '127.0.0.1', port: 0 }
  const engines = await Promise.all(Array.from({ length: count }, () => startEmulator(local)))
  for (const engine of engines) {
    const close = engine.close.bind(engine)
    let closed: Promise<void> | undefined
    engine.close = () => (closed ??= close())
    ending.push(engine.close)
  }
  return engines
}

const named = (engines: readonly { url: string }[]): EngineConfig[] =>
  engines.map(({ url }, i) => ({ url, kind: 'vllm', id: `gpu-${i}` }))

async function start(engines: readonly { url: string }[]): Promise<RunningProxy> {
  const proxy = await startTestProxy(undefined, {
    engines: named(engines),
    // checks would count as requests
    checks: { intervalSeconds: 0, timeoutSeconds: 1 },
  })
  ending.push(() => proxy.close())
  return proxy
}

const put = (adminUrl: string, engines: readonly object[]): Promise<Response> =>
  postJson(`${adminUrl}/v1/engines`, { engines }, { method: 'PUT' })

async function replicasOf(adminUrl: string): Promise<{ replica: string; state: string }[]> {
  const { replicas } = (await (await fetch(`${adminUrl}/v1/mirror`)).json()) as {
    replicas: { replica: string; state: string }[]
  }
  return replicas
}

/** Sends requests, a few at a time, until stopped. Returns the replicas that answered, and everything that failed. */
function sendLoad(url: string): { stop(): Promise<{ replicas: string[]; failed: string[] }>; answered(): number } {
  let isOver = false
  const [replicas, failed]: [string[], string[]] = [[], []]
  const client = async (own: number): Promise<void> => {
    for (let i = 0; !isOver && failed.length === 0; i++) {
      const names = String.fromCharCode(65 + ((own + i) % 20), 66 + ((own + i) % 20), 67 + ((own + i) % 20))
      const streams = i % 2 === 0
      const answer = await postJson(`${url}/v1/chat/completions`, {
        ...(documentRequest(`q${own}-${i}`, names) as object),
        max_tokens: 8,
        stream: streams,
      }).catch((error: Error) => error)
      const text = answer instanceof Error ? answer.message : await answer.text().catch((error: Error) => error.message)
      const isWhole = streams ? text.includes('data: [DONE]') : text.includes('"usage"')
      if (answer instanceof Error || answer.status !== 200 || !isWhole) failed.push(text.slice(0, 300))
      else replicas.push(answer.headers.get('x-reprise-replica')!)
    }
  }
  const clients = Array.from({ length: 4 }, (_, i) => client(i))
  const stop = async () => {
    isOver = true
    await Promise.all(clients)
    return { replicas, failed }
  }
  ending.push(stop)
  return { answered: () => replicas.length + failed.length, stop }
}

/** Waits until the load has got so many more answers. */
async function more(load: { answered(): number }, count: number): Promise<void> {
  const until = load.answered() + count
  await vi.waitFor(() => expect(load.answered()).toBeGreaterThanOrEqual(until), { timeout: 30_000, interval: 20 })
}

test('one engine becomes three and one again under load, through the admin listener, and no request fails', async () => {
  const engines = await startEngines(3)
  const proxy = await start(engines.slice(0, 1))
  const load = sendLoad(proxy.url)
  await more(load, 20)
  const answer = await put(proxy.adminUrl, named(engines))
  expect(await answer.json()).toEqual({ engines: ['gpu-0', 'gpu-1', 'gpu-2'].map((id) => ({ id, state: 'ready' })) })
  await more(load, 40)
  await put(proxy.adminUrl, named(engines).slice(2))
  // what leaves finishes its requests first
  await vi.waitFor(async () =>
    expect((await replicasOf(proxy.adminUrl)).map(({ replica }) => replica)).toEqual(['gpu-2']),
  )
  await Promise.all(engines.slice(0, 2).map((engine) => engine.close()))
  await more(load, 20)
  const { replicas, failed } = await load.stop()
  expect(failed).toEqual([])
  // documents that overlap stay together, so that the third may get none
  expect(replicas).toEqual(expect.arrayContaining(['gpu-0', 'gpu-2']))
  const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  // the counts of the two that left go on under one name
  const counted = [...metrics.matchAll(/^reprise_replica_requests_total\{.*replica="([^"]+)".*\} (\d+)$/gm)]
  expect(new Set(counted.map(([, replica]) => replica))).toEqual(new Set(['gone', 'gpu-2']))
  expect(counted.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(replicas.length)
})

test('engines of the configuration file come and go at SIGHUP under load, and no request fails', async () => {
  const engines = await startEngines(3)
  const settings = (some: readonly Emulator[]): object => ({
    mode: 'on',
    engines: some.map(({ url }) => ({ url, kind: 'vllm', id: `at-${new URL(url).port}` })),
  })
  const running = await reprises.start(['serve', '--config', writeSettings(folder, settings(engines.slice(0, 1)))])
  const { url, admin_url: adminUrl = '' } = running.listening
  const load = sendLoad(url!)
  await more(load, 10)
  for (const some of [engines, engines.slice(1, 2)]) {
    writeSettings(folder, settings(some))
    running.child.kill('SIGHUP')
    const names = some.map(({ url }) => `at-${new URL(url).port}`)
    await vi.waitFor(async () => expect((await replicasOf(adminUrl)).map(({ replica }) => replica)).toEqual(names), {
      timeout: 20_000,
    })
    await more(load, 30)
  }
  const { replicas, failed } = await load.stop()
  expect(failed).toEqual([])
  expect(new Set(replicas).size).toBeGreaterThan(1)
  // of an engine without a kind tenants are not kept apart, whenever it comes
  expect(running.stderr()).not.toContain('cache_salt')
  expect((await put(adminUrl, [{ url: engines[1]!.url, id: 'unknown' }])).status).toBe(200)
  // its log comes by a pipe
  const warning = 'get no cache_salt (unknown): all tenants share what they cache'
  await vi.waitFor(() => expect(running.stderr()).toContain(warning), 10_000)
})

test('an engine that leaves gets no more requests, finishes those it has, and goes on where it was if it comes back', async () => {
  const doubles = [await startRecordingEngineDouble(), await startRecordingEngineDouble()]
  for (const double of doubles) ending.push(() => double.close())
  const held: (() => void)[] = []
  doubles[0]!.answer((response) => held.push(() => response.end('{"choices":[]}')))
  const proxy = await start(doubles.slice(0, 1))
  const asked = postJson(`${proxy.url}/v1/chat/completions`, documentRequest('q', 'ABC'))
  await vi.waitFor(() => expect(held).toHaveLength(1))
  const engines = named(doubles)
  await put(proxy.adminUrl, engines.slice(1))
  await pause(300)
  expect(await replicasOf(proxy.adminUrl)).toMatchObject([
    { replica: 'gpu-1', state: 'ready' },
    { replica: 'gpu-0', state: 'draining', in_flight: 1, requests: 1 },
  ])
  for (let i = 0; i < 3; i++)
    await (await postJson(`${proxy.url}/v1/chat/completions`, documentRequest(`${i}`, 'ABC'))).text()
  expect(doubles.map(({ requests }) => requests.length)).toEqual([1, 3])
  await put(proxy.adminUrl, engines)
  // its mirror still knows what it was sent
  expect(await replicasOf(proxy.adminUrl)).toMatchObject([{ replica: 'gpu-0', state: 'ready', requests: 1 }, {}])
  await put(proxy.adminUrl, engines.slice(1))
  held[0]!()
  expect((await asked).status).toBe(200)
  await vi.waitFor(async () => expect(await replicasOf(proxy.adminUrl)).toHaveLength(1))
  await put(proxy.adminUrl, engines)
  expect(await replicasOf(proxy.adminUrl)).toMatchObject([{ replica: 'gpu-0', requests: 0 }, {}])
})

test('a name with another engine behind it is another replica', async () => {
  const doubles = [await startRecordingEngineDouble(), await startRecordingEngineDouble()]
  for (const double of doubles) ending.push(() => double.close())
  const proxy = await start(doubles.slice(0, 1))
  const ask = async (): Promise<void> => {
    await (await postJson(`${proxy.url}/v1/chat/completions`, documentRequest('q', 'ABC'))).text()
  }
  await ask()
  await put(proxy.adminUrl, [{ url: doubles[1]!.url, kind: 'vllm', id: 'gpu-0' }])
  expect(await replicasOf(proxy.adminUrl)).toMatchObject([{ replica: 'gpu-0', requests: 0 }])
  await ask()
  expect(doubles.map(({ requests }) => requests.length)).toEqual([1, 1])
})

test.each([
  ['no list', {}, /engines: is missing/],
  ['an empty list', { engines: [] }, /must not be empty/],
  ['a typo', { engines: [{ url: 'http://a', knd: 'vllm' }] }, /engines\[0\]\.knd: .*did you mean kind/],
  ['two of a name', { engines: ['http://a', 'http://b'].map((url) => ({ url, id: 'a' })) }, /called 'a' too/],
  [
    'names that differ in case alone',
    { engines: ['a', 'A'].map((id) => ({ url: `http://${id}-0`, id })) },
    /called 'a'/,
  ],
  ['a reserved name', { engines: [{ url: 'http://a', id: 'Gone' }] }, /id: 'gone' is reserved: .*replica="gone"/],
  [
    'an engine named twice',
    { engines: ['http://a', 'http://A:80/'].map((url) => ({ url })) },
    /engines\[1\]\.url: .*twice/,
  ],
  [
    'too many',
    { engines: Array.from({ length: 257 }, (_, i) => ({ url: `http://a:${i + 1}` })) },
    /at most 256 .*not 257/,
  ],
  ['a missing file', { engines: [{ url: 'https://a', tls: { ca: '/no/such' } }] }, /cannot be read/],
])('%s changes nothing, and the answer says what is wrong', async (_, body, message) => {
  const [engine] = await startEngines(1)
  const proxy = await start([engine!])
  const answer = await postJson(`${proxy.adminUrl}/v1/engines`, body, { method: 'PUT' })
  expect(answer.status).toBe(400)
  expect((await errorOf(answer)).message).toMatch(message)
  expect(await replicasOf(proxy.adminUrl)).toMatchObject([{ replica: 'gpu-0', state: 'ready' }])
})

test.skipIf(!hasRedis)('what Redis keeps of an engine goes with it, and what it keeps of others stays', async () => {
  const redis = await startRedis()
  ending.push(() => redis.close())
  const doubles = [await startRecordingEngineDouble(), await startRecordingEngineDouble()]
  for (const double of doubles) ending.push(() => double.close())
  const engines = named(doubles)
  const shared = { url: redis.url, namespace: 'ns', ttlSeconds: 600, share_tokens: true }
  const proxy = await startTestProxy(undefined, { engines, redis: shared })
  ending.push(() => proxy.close())
  const keysOf = (id: string): Promise<string[]> => redis.client.keys(`reprise:ns:mirror:{${id}}:*`)
  for (const [i, { id }] of engines.entries()) {
    await postJson(`${proxy.adminUrl}/v1/replicas/${engines[1 - i]!.id}/drain`, {})
    await postJson(`${proxy.adminUrl}/v1/replicas/${id}/resume`, {})
    await (await postJson(`${proxy.url}/v1/chat/completions`, documentRequest(`q${i}`, 'ABC'))).text()
    await vi.waitFor(async () => expect(await keysOf(id)).not.toEqual([]), { timeout: 10_000 })
  }
  await put(proxy.adminUrl, engines.slice(1))
  await vi.waitFor(async () => expect(await keysOf('gpu-0')).toEqual([]), { timeout: 10_000 })
  await pause(500)
  expect(await keysOf('gpu-0')).toEqual([])
  expect(await keysOf('gpu-1')).not.toEqual([])
})
