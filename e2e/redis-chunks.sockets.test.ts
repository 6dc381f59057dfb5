import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

const docs = Array.from(
  { length: 3 },
  (_, n) => `Article ${n}\nThe article with the number ${n} tells of the year ${1900 + n}, and of nothing else.`,
)

describe.skipIf(!hasRedis)('known chunks in Redis', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  let proxies: RunningProxy[]

  const start = async (): Promise<RunningProxy> => {
    const proxy = await startTestProxy(
      { url: engine.url },
      { redis: { url: redis.url, namespace: 'test', ttlSeconds: 600 } },
    )
    proxies.push(proxy)
    return proxy
  }
  const countOf = async ({ adminUrl }: RunningProxy): Promise<number> =>
    ((await (await fetch(`${adminUrl}/v1/chunks`)).json()) as { chunks: number }).chunks

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.client.flushall()
    proxies = []
    engine = await startRecordingEngineDouble()
  })
  afterEach(async () => {
    for (const proxy of proxies) await proxy.close()
    await engine.close()
  })

  test('what one proxy learns all proxies know, and those that are started later', async () => {
    const [first, second] = [await start(), await start()]
    await postJson(`${first.url}/v1/embeddings`, { model: 'm', input: docs })
    await waitFor(async () => (await countOf(second)) === 3)
    const content = `Context:\n${[2, 0, 1].map((n) => docs[n]).join('\n\n')}\n\nQuestion: why?`
    const answer = await postJson(`${second.url}/v1/chat/completions`, { messages: [{ role: 'user', content }] })
    expect(answer.headers.get('x-reprise-blocks')).toBe('2')
    const third = await start()
    await waitFor(async () => (await countOf(third)) === 3)
    const ttl = await redis.client.ttl('reprise:test:chunks:{chunks}')
    expect(ttl).toBeGreaterThan(590)
    await fetch(`${second.adminUrl}/v1/chunks`, { method: 'DELETE' })
    await waitFor(async () => (await countOf(first)) + (await countOf(third)) === 0)
  })

  test('they come back where Redis lost them', async () => {
    const first = await start()
    await postJson(`${first.url}/v1/rerank`, { model: 'm', query: 'why?', documents: docs })
    await waitFor(async () => (await redis.client.xlen('reprise:test:chunks:{chunks}')) > 0)
    await redis.client.flushall()
    await waitFor(async () => (await redis.client.xlen('reprise:test:chunks:{chunks}')) > 0)
    const second = await start()
    await waitFor(async () => (await countOf(second)) === 3)
  })
})
