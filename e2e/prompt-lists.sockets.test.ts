import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

let emulator: Emulator
let proxy: RunningProxy

afterEach(async () => {
  await proxy.close()
  await emulator.close()
})

async function start(kind: 'vllm' | 'sglang'): Promise<void> {
  const port = await findFreePort()
  const callbackUrl = `http://127.0.0.1:${port}/v1/replicas/small`
  const options = { ...emulatorDefaults, kind, host: '127.0.0.1', port: 0, capacityTokens: 2_000, callbackUrl }
  emulator = await startEmulator(options)
  const admin = { listen: `127.0.0.1:${port}` }
  proxy = await startTestProxy({ url: emulator.url, kind, id: 'small' }, { admin })
  while ((await mirror()).mode !== 'exact') await delay(5)
}

async function mirror(): Promise<{ mode: string; requests: number; unknown_requests: number }> {
  const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: [never] }
  return replicas[0]
}

/** Returns a prompt of more than 400 tokens that begins like no other; the cache has room for four. */
const text = (name: string): string =>
  `[Doc_1] ${name} says ${`${name} so, `.repeat(200)}\n[Doc_2] ${name}\n\nQuestion: x?`

test.each([
  ['vllm', '/v1/completions', 'prompt', 'max_tokens'],
  ['sglang', '/v1/completions', 'prompt', 'max_tokens'],
  ['sglang', '/generate', 'text', 'none'],
] as const)('of a list of prompts %s evicts each by its own name: %s', async (kind, path, key, limit) => {
  await start(kind)
  const send = async (prompts: unknown, id: string): Promise<void> => {
    const body = { model: 'm', [key]: prompts, [limit]: 2, sampling_params: { max_new_tokens: 2 } }
    const response = await postJson(proxy.url + path, body, { headers: { 'x-request-id': id } })
    expect(response.status).toBe(200)
    await response.text()
  }
  const predicted = async (name: string): Promise<number> => {
    const explained = await postJson(`${proxy.adminUrl}/v1/explain`, { model: 'm', prompt: text(name) })
    return ((await explained.json()) as { predicted_cached_tokens: number }).predicted_cached_tokens
  }
  await send(['a', 'b', 'c'].map(text), 'list')
  expect((await mirror()).requests).toBe(3)
  for (const name of ['d', 'e', 'f', 'g', 'h', 'i']) await send(text(name), name)
  // the later prompts leave no room for the list
  while ((await mirror()).requests > 4) await delay(5)
  // a list of one prompt, and a reused id that an earlier list had
  await send([text('one')], 'list')
  await send([text('two'), text('three')], 'list')
  while ((await mirror()).requests > 4) await delay(5)
  expect((await mirror()).unknown_requests).toBe(0)
  if (path === '/v1/completions') expect(await predicted('a')).toBeLessThan(100)
})
