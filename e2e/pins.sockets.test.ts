import { hash } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { Config } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { startRecordingEngineDouble } from './recording-engine-double.ts'
import { configWith, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

const pins = { tokens: 65_536, tenantTokens: 8_192, refreshSeconds: 0.1 }

async function startEngine(port = 0): Promise<Emulator> {
  const engine = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port, capacityTokens: 8_192 })
  ending.push(() => engine.close())
  return engine
}

async function start(url: string, config: Overrides = {}): Promise<RunningProxy> {
  const proxy = await startTestProxy({ url, kind: 'vllm', id: 'gpu-0' }, { pins, ...config })
  ending.push(() => proxy.close())
  return proxy
}

/** About 1,500 tokens with a mark behind them, and a question. */
function marked(subject: string, question: string, cacheControl: object | null = { type: 'ephemeral' }): object {
  const text = Array.from({ length: 500 }, (_, i) => `${subject} ${i}`).join(', ')
  const content = [
    { type: 'text', text, ...(cacheControl && { cache_control: cacheControl }) },
    { type: 'text', text: question },
  ]
  return { model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] }
}

/** Returns how many tokens of the answered prompt were cached. */
async function ask({ url }: RunningProxy, body: object): Promise<number> {
  const answer = await postJson(`${url}/v1/chat/completions`, body)
  expect(answer.status).toBe(200)
  const { usage } = (await answer.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } } }
  return usage.prompt_tokens_details.cached_tokens
}

interface Pins {
  readonly tokens: number
  readonly pins: { id: string; tenant: string; tokens: number; cached_tokens: Record<string, number> }[]
}
const pinsOf = async ({ adminUrl }: RunningProxy): Promise<Pins> =>
  (await (await fetch(`${adminUrl}/v1/pins`)).json()) as Pins
const counted = async ({ adminUrl }: RunningProxy, name: string, outcome: string): Promise<number> => {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(new RegExp(`^reprise_${name}_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(metrics)![1])
}
const waitFor = (isSo: () => Promise<unknown>): Promise<void> =>
  vi.waitFor(async () => expect(await isSo()).toBeTruthy(), { timeout: 20_000, interval: 50 })
const lasting = async (proxy: RunningProxy, outcome: string, before: number): Promise<void> =>
  waitFor(async () => (await counted(proxy, 'pin_requests', outcome)) > before)

test('what is pinned stays while other prompts fill the cache, and is computed again where it was lost', async () => {
  const proxy = await start((await startEngine()).url)
  await ask(proxy, marked('pinned', 'Who?'))
  await ask(proxy, marked('usual', 'Who?', null))
  for (let round = 0; round < 3; round++) {
    const held = await counted(proxy, 'pin_requests', 'held')
    for (let i = 0; i < 2; i++) await ask(proxy, marked(`${round}-${i}`, 'Who?', null))
    await lasting(proxy, 'held', held)
  }
  expect(await ask(proxy, marked('pinned', 'When?'))).toBeGreaterThan(1_400)
  expect(await ask(proxy, marked('usual', 'When?', null))).toBeLessThan(100)

  await Promise.all(Array.from({ length: 8 }, (_, i) => ask(proxy, marked(`many-${i}`, 'Who?', null))))
  const sent = async (): Promise<number> =>
    (await counted(proxy, 'pin_requests', 'held')) + (await counted(proxy, 'pin_requests', 'computed'))
  const before = await sent()
  // the first may have been sent while the others still filled the cache
  await waitFor(async () => (await sent()) >= before + 2)
  expect(await ask(proxy, marked('pinned', 'Where?'))).toBeGreaterThan(1_400)

  const { tokens, pins: all } = await pinsOf(proxy)
  expect(all).toMatchObject([{ tenant: 'default', tokens, cached_tokens: { 'gpu-0': expect.any(Number) } }])
  const remove = (id: string): Promise<Response> => fetch(`${proxy.adminUrl}/v1/pins/${id}`, { method: 'DELETE' })
  expect((await remove(all[0]!.id)).status).toBe(200)
  expect((await remove(all[0]!.id)).status).toBe(404)
  expect(await pinsOf(proxy)).toMatchObject({ tokens: 0, pins: [] })
})

test('an engine that comes back is given what is pinned', async () => {
  const engine = await startEngine()
  const proxy = await start(engine.url)
  await ask(proxy, marked('pinned', 'Who?'))
  await engine.close()
  ending.splice(0, 1)
  const computed = await counted(proxy, 'pin_requests', 'computed')
  await startEngine(Number(new URL(engine.url).port))
  await lasting(proxy, 'computed', computed)
  expect(await ask(proxy, marked('pinned', 'When?'))).toBeGreaterThan(1_400)
})

test('an engine that comes beside others is given what is pinned before anything else', async () => {
  const engines = [await startEngine(), await startEngine()]
  const proxy = await start(engines[0]!.url, { warmUpSeconds: 600 })
  await ask(proxy, marked('pinned', 'Who?'))
  await ask(proxy, marked('usual', 'Who?', null))
  const put = (from: number): Promise<Response> =>
    postJson(
      `${proxy.adminUrl}/v1/engines`,
      { engines: engines.map(({ url }, i) => ({ url, kind: 'vllm', id: `gpu-${i}` })).slice(from) },
      { method: 'PUT' },
    )
  expect((await put(0)).status).toBe(200)
  await ask(proxy, marked('usual', 'When?', null))
  expect(await counted(proxy, 'warm_ups', 'warmed')).toBe(0)
  await lasting(proxy, 'computed', 0)
  expect((await pinsOf(proxy)).pins[0]!.cached_tokens['gpu-1']).toBeGreaterThan(1_000)
  await put(1)
  await waitFor(async () => (await ask(proxy, marked('pinned', 'When?'))) > 1_400)
})

test('requests go as they came, pins are bounded by tenant, and what an engine refuses is unpinned', async () => {
  const engine = await startRecordingEngineDouble()
  ending.push(() => engine.close())
  const usage = { prompt_tokens: 1_500, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 0 } }
  let refuses = false
  engine.answer((response, { body }) => {
    const isRefused = refuses && !String(body).includes('"stream":false')
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRefused ? { error: { message: 'no' } } : { id: 'x', choices: [], usage }))
  })
  const proxy = await start(engine.url, { pins: { ...pins, tenantTokens: 3_000 } })
  const send = (subject: string, authorization: string): Promise<number> => {
    const body = { ...marked(subject, 'Who?'), stream: false }
    return postJson(`${proxy.url}/v1/chat/completions`, body, { headers: { authorization } }).then(
      ({ status }) => status,
    )
  }
  for (let i = 0; i < 3; i++) expect(await send(`subject-${i}`, 'Bearer a')).toBe(200)
  expect(await send('other', 'Bearer b')).toBe(200)
  const sent = JSON.parse(String(engine.requests.find(({ body }) => String(body).includes('subject-0'))!.body))
  expect({ ...sent, cache_salt: undefined }).toEqual({ ...marked('subject-0', 'Who?'), stream: false })
  await waitFor(async () => (await pinsOf(proxy)).pins.length === 3)
  expect(new Set((await pinsOf(proxy)).pins.map(({ tenant }) => tenant)).size).toBe(2)
  expect(await counted(proxy, 'pins', 'tenant_limit')).toBe(1)
  refuses = true
  await waitFor(async () => (await pinsOf(proxy)).pins.length === 0)
  expect(await counted(proxy, 'pin_requests', 'failed')).toBe(3)
})

test('a pin goes with its API key', async () => {
  const { url } = await startEngine()
  const keysOf = (key: string): Pick<Config, 'keys'> => ({
    keys: keysIn({ sha256: hash('sha256', key, 'hex'), tenant: 't' }),
  })
  const proxy = await start(url, keysOf('old'))
  const headers = { authorization: 'Bearer old' }
  await postJson(`${proxy.url}/v1/chat/completions`, marked('pinned', 'Who?'), { headers })
  await waitFor(async () => (await pinsOf(proxy)).pins.length === 1)
  proxy.reload(configWith({ engines: [{ url, kind: 'vllm', id: 'gpu-0' }], pins, ...keysOf('new') }))
  expect(await pinsOf(proxy)).toMatchObject({ tokens: 0, pins: [] })
})

test('pins go with the secret of the salts', async () => {
  const { url } = await startEngine()
  const proxy = await start(url, { tenants: { salt_secret: 'before' } })
  await ask(proxy, marked('pinned', 'Who?'))
  await waitFor(async () => (await pinsOf(proxy)).pins.length === 1)
  const engines = [{ url, kind: 'vllm', id: 'gpu-0' } as const]
  proxy.reload(configWith({ engines, pins, tenants: { salt_secret: 'before' } }))
  expect(await pinsOf(proxy)).toMatchObject({ pins: [{}] })
  proxy.reload(configWith({ engines, pins, tenants: { salt_secret: 'after' } }))
  expect(await pinsOf(proxy)).toMatchObject({ pins: [] })
})

test('of several pins, none is sent twice before the others are sent once', async () => {
  const engine = await startRecordingEngineDouble()
  ending.push(() => engine.close())
  const usage = { prompt_tokens: 1_500, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1_500 } }
  const answer = JSON.stringify({ id: 'x', choices: [], usage })
  engine.answer((response) => response.setHeader('content-type', 'application/json').end(answer))
  const proxy = await start(engine.url, { pins: { ...pins, tenantTokens: 65_536, refreshSeconds: 0.02 } })
  const subjects = ['first', 'second', 'third', 'fourth', 'fifth']
  for (const subject of subjects) await ask(proxy, marked(subject, 'Who?'))
  await waitFor(async () => (await pinsOf(proxy)).pins.length === subjects.length)
  const from = engine.requests.length
  await waitFor(async () => engine.requests.length > from + 25)
  const ours = engine.requests.slice(from, from + 25).map(({ body }) => String(body))
  const counts = subjects.map((subject) => ours.filter((body) => body.includes(`${subject} 0,`)).length)
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
})
