import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { documentRequest, metricOf } from './placed-blocks.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { describeMirrorFaults } from './redis-mirror-faults.contract.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { startSharedProxy } from './shared-conversation.ts'
import { postJson } from './start-test-proxy.ts'

describeMirrorFaults(2)

describe.skipIf(!hasRedis)('proxies that share a mirror, as they are started (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const open: RunningProxy[] = []

  beforeEach(async () => {
    redis = await startRedis()
    engine = await startRecordingEngineDouble()
    engine.answer(answerPlainly)
  })

  afterEach(async () => {
    for (const proxy of open.splice(0)) await proxy.close()
    await engine.close()
    await redis.close()
  })

  async function start(): Promise<RunningProxy> {
    const proxy = await startSharedProxy(engine, redis.url)
    open.push(proxy)
    return proxy
  }

  const ask = async (proxy: RunningProxy, names: string): Promise<Headers> => {
    const { headers } = await postJson(`${proxy.url}/v1/chat/completions`, documentRequest('what of it?', names))
    return headers
  }

  const requestsOf = (proxy: RunningProxy): Promise<number> =>
    fetch(`${proxy.adminUrl}/v1/mirror`)
      .then((response) => response.json() as Promise<{ replicas: { requests: number }[] }>)
      .then(({ replicas }) => replicas[0]!.requests)

  test('what went through one is predicted and followed by the other, and by one that is started anew', async () => {
    const [one, other] = [await start(), await start()]
    await ask(one, 'DCBA')
    await waitFor(async () => (await requestsOf(other)) === 1)
    const headers = await ask(other, 'ABCD')
    expect(Number(headers.get('x-reprise-predicted-cached-tokens'))).toBeGreaterThan(0)
    expect(headers.get('x-reprise-moved')).not.toBe('0')
    await one.close()
    await other.close()
    open.length = 0
    const again = await start()
    await waitFor(async () => (await requestsOf(again)) === 2)
    expect(Number((await ask(again, 'DBCA')).get('x-reprise-predicted-cached-tokens'))).toBeGreaterThan(0)
    expect(await metricOf(again.adminUrl, 'reprise_redis_up')).toBe(1)
  })
})
