import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { startSharedProxy } from './shared-conversation.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const wholeWithinMilliseconds = 5_000
const textOf = (name: string): string => name.repeat(100)

describe.skipIf(!hasRedis)('the hottest blocks of proxies with Redis (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []
  /** block names by block id */
  const names = new Map<string, string>()

  beforeAll(async () => {
    redis = await startRedis()
    engine = await startRecordingEngineDouble()
    const control = await startTestProxy({ url: engine.url })
    for (const blocks of ['abc', 'ab', 'a']) await ask(control, blocks)
    for (const [i, { id }] of (await topBlocksAt(control)).entries()) names.set(id, 'abc'[i]!)
    await control.close()
  })

  afterAll(async () => {
    await engine.close()
    await redis.close()
  })

  beforeEach(async () => {
    await redis.client.flushall()
  })

  afterEach(closeAll)

  async function closeAll(): Promise<void> {
    for (const proxy of proxies.splice(0)) await proxy.close()
  }

  async function start(): Promise<RunningProxy> {
    const proxy = await startSharedProxy(engine, redis.url)
    proxies.push(proxy)
    return proxy
  }

  let questions = 0
  async function ask(proxy: RunningProxy, blocks: string, key = 'mine'): Promise<void> {
    questions += 1
    const body = ragRequest(`question ${questions}`, [...blocks].map(textOf))
    const init = { headers: { authorization: `Bearer ${key}` } }
    await (await postJson(`${proxy.url}/v1/chat/completions`, body, init)).arrayBuffer()
  }

  async function topBlocksAt(
    { adminUrl }: RunningProxy,
    path = '/v1/index',
  ): Promise<{ id: string; count: number; tokens: number }[]> {
    const { top_blocks } = (await (await fetch(`${adminUrl}${path}`)).json()) as { top_blocks: [] }
    return top_blocks
  }

  /** Reads the counts by block name from a path of the control plane, and expects them hottest first. */
  async function countsAt(proxy: RunningProxy, path?: string): Promise<Record<string, number>> {
    const blocks = await topBlocksAt(proxy, path)
    const counts = blocks.map(({ count }) => count)
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    for (const { tokens } of blocks) expect(tokens).toBeGreaterThan(0)
    return Object.fromEntries(blocks.map(({ id, count }) => [names.get(id), count]))
  }

  async function expectCounts(counts: Record<string, number>, ...at: RunningProxy[]): Promise<void> {
    for (const proxy of at) {
      await waitFor(async () => isDeepStrictEqual(await countsAt(proxy), counts), wholeWithinMilliseconds)
    }
  }

  test('are those of all of them, outlive their end, and are forgotten by all when one is told to', async () => {
    const [one, other] = [await start(), await start()]
    await ask(one, 'ab')
    await ask(one, 'ac')
    await ask(other, 'ba', 'another tenant')
    await expectCounts({ a: 3, b: 2, c: 1 }, one, other)
    expect(await countsAt(other, '/v1/stats')).toEqual({ a: 3, b: 2, c: 1 })
    await ask(other, 'c')
    await closeAll()

    const [next, beside] = [await start(), await start()]
    await expectCounts({ a: 3, b: 2, c: 2 }, next, beside)
    await ask(next, 'ab')
    await ask(next, 'b')
    await expectCounts({ a: 4, b: 4, c: 2 }, next, beside)

    await fetch(`${beside.adminUrl}/v1/index`, { method: 'DELETE' })
    expect(await countsAt(beside)).toEqual({})
    await expectCounts({}, next)
    await ask(next, 'a')
    await expectCounts({ a: 1 }, next, beside)
    await expectCounts({ a: 1 }, await start())
  })

  test('without Redis are forgotten when a proxy is started anew: the test above can fail', async () => {
    const one = await startTestProxy({ url: engine.url })
    await ask(one, 'ab')
    expect(await countsAt(one)).toEqual({ a: 1, b: 1 })
    await one.close()
    const next = await startTestProxy({ url: engine.url })
    proxies.push(next)
    expect(await countsAt(next)).toEqual({})
  })

  test('are in Redis again within 5 s when it was flushed', async () => {
    const one = await start()
    for (const blocks of ['abc', 'ab', 'a']) await ask(one, blocks)
    const written = async (): Promise<boolean> => (await redis.client.xlen('reprise:test:hot:{blocks}:log:1')) === 1
    await waitFor(written)
    await redis.client.flushall()
    await waitFor(written, wholeWithinMilliseconds)
    await expectCounts({ a: 3, b: 2, c: 1 }, one, await start())
  })
})
