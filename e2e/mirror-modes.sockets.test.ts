import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Emulator, type EmulatorOptions, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let proxy: RunningProxy
let emulator: Emulator
let adminPort = 0

beforeEach(async () => {
  adminPort = await findFreePort()
})
afterEach(async () => {
  await proxy.close()
  await emulator.close()
})

/** Starts an emulator, which reports to the proxy only if `reports`, and a proxy in front of it. */
async function start(kind: EngineKind, options: Partial<EmulatorOptions>, reports: boolean): Promise<void> {
  const place = { host: '127.0.0.1', port: 0, prefillTokensPerSecond: 1e7 }
  const callbacks = { callbackUrl: `http://127.0.0.1:${adminPort}/v1/replicas/gpu-0` }
  const kindOf = kind === 'sglang' ? kind : 'vllm'
  emulator = await startEmulator({
    ...emulatorDefaults,
    ...place,
    kind: kindOf,
    ...options,
    ...(reports ? callbacks : {}),
  })
  const admin = { listen: `127.0.0.1:${adminPort}` }
  proxy = await startTestProxy({ url: emulator.url, kind, id: 'gpu-0' }, { admin })
}

interface Described {
  mode: string
  requests: number
  unknown_requests: number
  sequence: number
  generation: string | null
}

async function mirror(): Promise<Described> {
  const ask = (): Promise<Response> => fetch(`${proxy.adminUrl}/v1/mirror`)
  // a kept-alive connection may lead to the previous proxy, which listened on the same port
  const answer = await ask().catch(ask)
  const { replicas } = (await answer.json()) as { replicas: [Described] }
  return replicas[0]
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20)
}

const block = (name: string): string => `${name} says ${`so and ${name}, `.repeat(60)}`

interface Answer {
  readonly predicted: number
  readonly cached: number
}

async function ask(names: readonly string[]): Promise<Answer> {
  const body = ragRequest(`what of ${names.join()}?`, names.map(block), { max_tokens: 9 })
  const response = await postJson(`${proxy.url}/v1/chat/completions`, body)
  const { usage } = (await response.json()) as { usage: { prompt_tokens_details?: { cached_tokens: number } } }
  return {
    predicted: Number(response.headers.get('x-reprise-predicted-cached-tokens')),
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
  }
}

/** Returns the same requests each time; of forty topics, recently requested ones are the most frequent. */
function topics(): string[][] {
  let state = 7
  const chance = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  return Array.from({ length: 120 }, (_, i) => {
    const topic = Math.floor(i / 6 + chance() * 12) % 40
    return ['x', 'y', 'z'].map((part) => `${part}${topic}`)
  })
}

async function errorOverAll(): Promise<{ off: number; cached: number }> {
  let off = 0
  let cached = 0
  for (const names of topics()) {
    const answer = await ask(names)
    off += Math.abs(answer.predicted - answer.cached)
    cached += answer.cached
  }
  return { off, cached }
}

describe('an engine whose reports have stopped', () => {
  test.each(['vllm', 'sglang'] as const)('is predicted by a model of its cache (%s)', async (kind) => {
    await start(kind, { capacityTokens: 8_000, blockSize: 16 }, false)
    const empty = { generation: 'g', sequence: 0, requests: [] }
    expect((await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, empty)).status).toBe(200)
    await until(async () => (await mirror()).mode === 'degraded')
    const { off, cached } = await errorOverAll()
    expect(cached).toBeGreaterThan(20_000)
    expect(off).toBeLessThan(cached * 0.15)
  })
})

describe('an engine that reports nothing', () => {
  test('is believed to hold no more than it found', async () => {
    await start('openai', { capacityTokens: 2_000, blockSize: 16 }, false)
    await ask(['a', 'b', 'c'])
    for (const name of 'defghijklm') await ask([name])
    const found = await ask(['a', 'b', 'n'])
    expect(found.predicted).toBeGreaterThan(found.cached + 300)
    // c was evicted with the text before it; a and b are cached again
    const again = await ask(['a', 'b', 'c'])
    expect(Math.abs(again.predicted - again.cached)).toBeLessThan(100)
    expect(again.cached).toBeGreaterThan(300)
  })
})

describe('an engine that reports', () => {
  test('is no less exact for having nothing to tell', async () => {
    await start('vllm', { capacityTokens: 8_000 }, true)
    await until(async () => (await mirror()).mode === 'exact')
    const { sequence } = await mirror()
    const modes = new Set<string>()
    for (let i = 0; i < 45; i++) {
      modes.add((await mirror()).mode)
      await delay(100)
    }
    expect(modes).not.toContain('fallback')
    await until(async () => (await mirror()).mode === 'exact' && (await mirror()).sequence > sequence)
  })

  const exactly = (holds: (described: Described) => boolean): Promise<void> =>
    until(async () => {
      const described = await mirror()
      return described.mode === 'exact' && holds(described)
    })

  test('and is cleared while it is idle is believed to hold nothing', async () => {
    await start('vllm', { capacityTokens: 8_000 }, true)
    await exactly(() => true)
    await ask(['a', 'b', 'c'])
    expect((await mirror()).requests).toBe(1)
    await fetch(`${emulator.url}/reset_prefix_cache`, { method: 'POST' })
    await exactly(({ requests }) => requests === 0)
    expect(await ask(['a', 'b', 'c'])).toMatchObject({ cached: 0 })
    await exactly(({ requests }) => requests >= 1)
  })

  test('and is started anew is believed to hold nothing, then what it stores', async () => {
    await start('vllm', { capacityTokens: 8_000 }, true)
    await exactly(() => true)
    await ask(['a', 'b', 'c'])
    const port = Number(new URL(emulator.url).port)
    const { generation } = await mirror()
    await emulator.close()
    const callbackUrl = `http://127.0.0.1:${adminPort}/v1/replicas/gpu-0`
    emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port, callbackUrl })
    await exactly((described) => described.generation !== generation && described.requests === 0)
    await ask(['a', 'b', 'c'])
    const again = await ask(['a', 'b', 'c'])
    expect(again.cached).toBeGreaterThan(300)
    expect(Math.abs(again.predicted - again.cached)).toBeLessThan(100)
  })

  test('to a proxy that is started anew is exact for what is sent from then on', async () => {
    await start('vllm', { capacityTokens: 8_000 }, true)
    await exactly(() => true)
    await ask(['a', 'b', 'c'])
    await proxy.close()
    const admin = { listen: `127.0.0.1:${adminPort}` }
    proxy = await startTestProxy({ url: emulator.url, kind: 'vllm', id: 'gpu-0' }, { admin })
    // the engine's reports name only requests that this proxy does not know
    await exactly(({ requests, unknown_requests }) => requests === 0 && unknown_requests > 0)
    await ask(['a', 'b', 'd'])
    const again = await ask(['a', 'b', 'd'])
    expect(Math.abs(again.predicted - again.cached)).toBeLessThan(100)
  })

  test('tells of responses by names of its own, and they are understood', async () => {
    await start('vllm', { capacityTokens: 3_000 }, true)
    await until(async () => (await mirror()).mode === 'exact')
    const respond = async (name: string, stream: boolean): Promise<void> => {
      const input = ['x', 'y', 'z'].map((part) => block(part + name)).join('\n\n---\n\n')
      const body = { model: 'm', input, max_output_tokens: 2, stream }
      await (await postJson(`${proxy.url}/v1/responses`, body)).text()
    }
    await respond('a', false)
    await respond('b', true)
    await until(async () => (await mirror()).requests === 2)
    // the cache has room for a little more than three; evicted requests are no longer believed cached
    for (const name of 'cdefgh') await respond(name, name < 'f')
    await until(async () => (await mirror()).requests <= 4)
    expect((await mirror()).requests).toBeGreaterThan(0)
  })
})
