import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type MirrorEntry, readEntry, writeEntry } from '#proxy/redis/codec/mirror-entry.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis } from './redis-server.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

describe.skipIf(!hasRedis)('reuse at any position, of proxies that share a Redis (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []

  beforeEach(async () => {
    redis = await startRedis()
    engine = await startRecordingEngineDouble()
  })
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
    await engine.close()
    await redis.close()
  })

  async function start(): Promise<RunningProxy> {
    const shared = { url: redis.url, namespace: 'test', ttlSeconds: 100 }
    const proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' }, { redis: shared })
    proxies.push(proxy)
    return proxy
  }

  const log = 'reprise:test:mirror:{gpu-0}:log:4'

  async function lastEntry(): Promise<MirrorEntry> {
    const [last] = await redis.client.xrevrangeBuffer(log, '+', '-', 'COUNT', 1)
    return readEntry(last?.[1][1])!
  }

  const reuseOf = async ({ adminUrl }: RunningProxy): Promise<unknown> =>
    ((await (await fetch(`${adminUrl}/v1/mirror`)).json()) as { replicas: { reuse: unknown }[] }).replicas[0]!.reuse

  test('what the engine tells one of them all go by', async () => {
    const [told, other] = [await start(), await start()]
    const snapshot = { generation: 'g', sequence: 0, requests: [] }
    const tell = (more: object): Promise<Response> =>
      postJson(`${told.adminUrl}/v1/replicas/gpu-0/snapshot`, { ...snapshot, ...more })
    await tell({ reuse: { ratio: 0.15, min_ratio: 0.1, max_ratio: 0.5 } })
    const known = { ratio: 0.15, min_ratio: 0.1, max_ratio: 0.5 }
    await vi.waitFor(async () => expect(await reuseOf(other)).toEqual(known), { timeout: 10_000 })
    const headers = { 'x-reprise-options': 'reuse=off' }
    await (await postJson(`${other.url}/v1/chat/completions`, ragRequest('q', ['a', 'b']), { headers })).text()
    const sent = engine.requests.find(({ url }) => url === '/v1/chat/completions')!
    expect(JSON.parse(sent.body.toString()).kv_transfer_params).toEqual({ reprise: { reuse: 'off' } })
    await tell({ sequence: 1, reuse: null })
    await vi.waitFor(async () => expect(await reuseOf(other)).toBeNull(), { timeout: 10_000 })
  })

  test('whoever was told last is right, also for those that begin later, and when Redis has lost it', async () => {
    const [one, other] = [await start(), await start()]
    const tell = ({ adminUrl }: RunningProxy, sequence: number, ratio: number): Promise<Response> => {
      const reuse = { ratio, min_ratio: 0, max_ratio: 1 }
      return postJson(`${adminUrl}/v1/replicas/gpu-0/snapshot`, { generation: 'g', sequence, requests: [], reuse })
    }
    const becomes = (proxy: RunningProxy, ratio: number): Promise<void> =>
      vi.waitFor(async () => expect(await reuseOf(proxy)).toMatchObject({ ratio }), { timeout: 10_000 })
    await tell(one, 0, 0.1)
    await becomes(other, 0.1)
    await tell(other, 1, 0.3)
    await becomes(one, 0.3)
    await becomes(await start(), 0.3)
    await redis.client.flushall()
    await vi.waitFor(async () => expect((await lastEntry()).reuse?.ratio).toBe(0.3), { timeout: 10_000 })
    await becomes(await start(), 0.3)
  })

  test.each([7, {}, { ratio: 2, max_ratio: 1 }, { ratio: 0.1, min_ratio: 0.2, max_ratio: 1 }])(
    'what Redis has is not trusted: %j',
    async (reuse) => {
      const one = await start()
      await postJson(`${one.adminUrl}/v1/replicas/gpu-0/snapshot`, { generation: 'g', sequence: 0, requests: [] })
      await vi.waitFor(async () => expect((await lastEntry()).generation).toBe('g'), { timeout: 10_000 })
      await redis.client.xadd(log, '*', 'e', writeEntry({ ...(await lastEntry()), reuse: reuse as never }))
      const { adminUrl } = await start()
      const metrics = async (): Promise<string> => (await fetch(`${adminUrl}/metrics`)).text()
      await vi.waitFor(async () => expect(await metrics()).toMatch(/fail_open_total\{reason="redis_value"\} 1\b/))
      expect(await reuseOf(proxies.at(-1)!)).toBeNull()
    },
  )
})
