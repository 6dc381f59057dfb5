import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/main.ts'
import { agree, MirrorProxy } from './mirror-proxies.ts'
import { documentRequest, metricOf } from './placed-blocks.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { startSharedProxy } from './shared-conversation.ts'
import { postJson } from './start-test-proxy.ts'

const wholeWithinMilliseconds = 5_000

describe.skipIf(!hasRedis)('faults of the Redis that holds a mirror (needs redis-server)', () => {
  let redis: RunningRedis
  const open: { close(): Promise<void> }[] = []

  beforeEach(async () => {
    redis = await startRedis()
  })

  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close()
    await redis.close()
  })

  async function start(): Promise<MirrorProxy> {
    const proxy = new MirrorProxy({ url: redis.url })
    open.push(proxy)
    return proxy.start()
  }

  /** Two proxies that have sent something, and heard of the engine. */
  async function startTwo(): Promise<[MirrorProxy, MirrorProxy]> {
    const [one, other] = [await start(), await start()]
    await waitFor(() => one.shared.isLoaded && other.shared.isLoaded)
    await one.snapshot('g', 0)
    await waitFor(() => other.replicaMirror.state.generation === 'g')
    for (let i = 0; i < 300; i++) (i % 2 === 0 ? one : other).send(`r${i}`, 'x', `y${i % 7}`, `z${i}`)
    await agree(one, other)
    await one.report('g', 1, { r1: 25, r2: 0 })
    await agree(one, other)
    return [one, other]
  }

  /** All of it is in Redis: one that joins now has it at once. */
  async function expectWhole(one: MirrorProxy, other: MirrorProxy): Promise<void> {
    await agree(one, other)
    const late = await start()
    await waitFor(() => late.shared.isLoaded)
    for (;;) {
      if (JSON.stringify(late.beliefs) === JSON.stringify(one.beliefs)) break
      await pause(20)
    }
    expect(Object.keys(one.held)).toHaveLength(300)
    expect(one.held).toMatchObject({ r1: 100, r3: 4, r4: 500 })
    expect(one.held).not.toHaveProperty('r2')
  }

  /** What happens while Redis is not there. */
  async function carryOn(one: MirrorProxy, other: MirrorProxy): Promise<void> {
    one.send('while away', 'x')
    await one.report('g', 2, { r3: 1 })
    expect(one.held['while away']).toBe(300)
    expect(other.held.r4).toBe(500)
  }

  test('killed and started anew, with nothing left: the state is whole within 5 s', async () => {
    const [one, other] = await startTwo()
    await redis.kill()
    await carryOn(one, other)
    await pause(1_000)
    const { port } = redis
    await redis.close()
    redis = await startRedis({ port })
    await expectWhole(one, other)
  })

  test('stopped for 10 s: the state is whole within 5 s of its return', async () => {
    const [one, other] = await startTwo()
    redis.signal('SIGSTOP')
    await carryOn(one, other)
    await pause(10_000)
    redis.signal('SIGCONT')
    await expectWhole(one, other)
  })

  test('full: the state is whole within 5 s of when there is room', async () => {
    const [one, other] = await startTwo()
    await redis.client.config('SET', 'maxmemory', '1')
    await carryOn(one, other)
    await pause(600)
    expect(other.mirror.has('while away' as never)).toBe(false)
    await redis.client.config('SET', 'maxmemory', '0')
    await expectWhole(one, other)
  })

  test('flushed: the state is whole within 5 s, again and again', async () => {
    const [one, other] = await startTwo()
    await carryOn(one, other)
    for (let i = 0; i < 2; i++) {
      await agree(one, other)
      await redis.client.flushall()
      await waitFor(async () => (await redis.client.keys('reprise:test:mirror:*')).length >= 4, wholeWithinMilliseconds)
      // Redis has it once nobody has anything left to write
      await waitFor(() => one.shared.waiting + other.shared.waiting === 0)
    }
    await expectWhole(one, other)
  })

  test('replaced by a replica that has not heard of everything: the state is whole within 5 s', async () => {
    const [one, other] = await startTwo()
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] })
    open.push(replica)
    await waitFor(async () => (await replica.client.keys('reprise:test:mirror:*')).length >= 4)
    // from here on it is behind
    await replica.client.replicaof('NO', 'ONE')
    await carryOn(one, other)
    await agree(one, other)
    const { port } = redis
    await redis.close()
    redis = await startRedis({ port, args: ['--replicaof', '127.0.0.1', String(replica.port)] })
    await waitFor(async () => (await redis.client.info('replication')).includes('master_link_status:up'))
    await redis.client.replicaof('NO', 'ONE')
    await expectWhole(one, other)
  })
})

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
