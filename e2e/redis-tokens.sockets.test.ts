import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { hasRedis, type RunningRedis, startRedis } from './redis-server.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

describe.skipIf(!hasRedis)('predictions to the token, shared through Redis (needs redis-server)', () => {
  let redis: RunningRedis
  let emulator: Emulator
  let proxy: RunningProxy
  let adminPort: number
  let enginePort: number

  beforeEach(async () => {
    redis = await startRedis()
    adminPort = await findFreePort()
    enginePort = await findFreePort()
  })
  afterEach(async () => {
    await proxy.close()
    await emulator.close()
    await redis.close()
  })

  function start(): Promise<RunningProxy> {
    return startTestProxy(
      { url: `http://127.0.0.1:${enginePort}`, kind: 'vllm', id: 'gpu-0' },
      {
        redis: { url: redis.url, namespace: 'test', ttlSeconds: 100, share_tokens: true },
        admin: { listen: `127.0.0.1:${adminPort}` },
      },
    )
  }

  async function ask(name: string, question: string): Promise<{ predicted: number; cached: number }> {
    const blocks = Array.from({ length: 4 }, (_, i) => `${name} ${i} ${'of many words, '.repeat(30)}`)
    const response = await postJson(`${proxy.url}/v1/chat/completions`, ragRequest(question, blocks))
    const { usage } = (await response.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } | null } }
    const predicted = Number(response.headers.get('x-reprise-predicted-cached-tokens'))
    return { predicted, cached: usage.prompt_tokens_details?.cached_tokens ?? 0 }
  }

  const untilExact = (name: string): Promise<void> =>
    vi.waitFor(
      async () => {
        const { predicted, cached } = await ask(name, `Again ${Math.random()}?`)
        expect(cached).toBeGreaterThan(300)
        expect(predicted).toBe(cached)
      },
      { timeout: 10_000, interval: 200 },
    )

  test('a proxy that is started anew predicts what was sent before, and what of it was evicted', async () => {
    proxy = await start()
    emulator = await startEmulator({
      host: '127.0.0.1',
      port: enginePort,
      kind: 'vllm',
      capacityTokens: 100_000,
      prefillTokensPerSecond: 100_000,
      callbackUrl: `http://127.0.0.1:${adminPort}/v1/replicas/gpu-0`,
    })
    await untilExact('warm')
    for (const name of ['a', 'b', 'c']) await ask(name, 'First?')
    await vi.waitFor(async () =>
      expect((await redis.client.keys('reprise:test:mirror:*:tokens:*')).length).toBeGreaterThan(2),
    )
    await proxy.close()
    proxy = await start()
    await untilExact('warm')
    for (const name of ['a', 'b', 'c']) {
      const { predicted, cached } = await ask(name, 'Second?')
      expect(cached).toBeGreaterThan(300)
      expect(predicted).toBe(cached)
    }
  })
})
