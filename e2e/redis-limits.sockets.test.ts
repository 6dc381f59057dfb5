import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hashOf } from '#proxy/access/hash-key.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis } from './redis-server.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const record = { name: 'app', sha256: hashOf('sk-1').toString('hex') }

describe.skipIf(!hasRedis)('limits of a key in front of two proxies (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []

  beforeEach(async () => {
    redis = await startRedis()
    engine = await startRecordingEngineDouble()
    engine.answer(answerPlainly)
  })
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
    await engine.close()
    await redis.close()
  })

  async function start(requests_per_minute: number): Promise<RunningProxy> {
    const proxy = await startTestProxy(
      { url: engine.url },
      {
        redis: { url: redis.url, namespace: 'test', ttlSeconds: 600 },
        keys: keysIn({ ...record, requests_per_minute }),
      },
    )
    proxies.push(proxy)
    return proxy
  }
  const ask = async ({ url }: RunningProxy): Promise<number> => {
    const headers = { authorization: 'Bearer sk-1' }
    const response = await postJson(`${url}/v1/chat/completions`, ragRequest('q', ['a', 'b']), { headers })
    await response.text()
    return response.status
  }
  const countedAlone = async ({ adminUrl }: RunningProxy): Promise<number> => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
    return Number(/fail_open_total\{reason="redis_limits"\} (\d+)/.exec(metrics)?.[1])
  }
  const entries = (): Promise<unknown[]> => redis.client.xrange('reprise:test:limits:{limits}', '-', '+')

  test('what one lets through the other does not, also when it starts later', async () => {
    const a = await start(10)
    for (let i = 0; i < 9; i++) expect(await ask(a)).toBe(200)
    await vi.waitFor(async () => expect((await entries()).length).toBeGreaterThan(0))
    const b = await start(10)
    let allowed = 0
    // it reads its first tenth of a second later
    await vi.waitFor(async () => {
      const status = await ask(b)
      if (status === 200) allowed += 1
      expect(status).toBe(429)
    })
    expect(allowed).toBeLessThan(10)
    await vi.waitFor(async () => expect(await ask(a)).toBe(429))
    expect(await countedAlone(a)).toBe(0)
    expect(JSON.stringify(await entries())).not.toContain(record.sha256)
  })

  test('without Redis each goes on alone, and says so', async () => {
    const [a, b] = [await start(2), await start(2)]
    await redis.close()
    await vi.waitFor(async () =>
      expect(await (await fetch(`${a.adminUrl}/metrics`)).text()).toContain('reprise_redis_up 0'),
    )
    for (const proxy of [a, b]) for (let i = 0; i < 2; i++) expect(await ask(proxy)).toBe(200)
    for (const proxy of [a, b]) expect(await ask(proxy)).toBe(429)
    await vi.waitFor(async () => expect(await countedAlone(a)).toBe(2))
  })
})
