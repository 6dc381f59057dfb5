import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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
})
