import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { metricOf } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { SharedConversation, startSharedProxy } from './shared-conversation.ts'
import { startTestProxy } from './start-test-proxy.ts'

/** Redis must hold the whole state again within this time of its return; long enough for a busy machine. */
const wholeWithinMilliseconds = 5_000

/**
 * Tests faults of a Redis through which proxies share turns. `stoppedSeconds`: how long a stopped Redis does not
 * answer.
 */
export function describeRedisFaults(stoppedSeconds: number): void {
  describe.skipIf(!hasRedis)('faults of Redis (needs redis-server)', () => {
    let redis: RunningRedis
    let engine: RecordingEngineDouble
    let proxy: RunningProxy
    /** a proxy without Redis */
    let control: RunningProxy
    const closers: (() => Promise<void>)[] = []

    beforeEach(async () => {
      redis = await startRedis()
      engine = await startRecordingEngineDouble()
      // with the default time limit for reads
      proxy = await startSharedProxy(engine, redis.url, {
        redis: { url: redis.url, namespace: 'test', ttlSeconds: 600 },
      })
      control = await startTestProxy({ url: engine.url })
    })

    afterEach(async () => {
      for (const close of closers.splice(0)) await close()
      await proxy.close()
      await control.close()
      await engine.close()
      await redis.close()
    })

    const turnKeys = async (): Promise<string[]> => (await redis.client.keys('reprise:test:turn:*')).toSorted()
    const lateReads = (): Promise<number> => metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="redis_late"}')
    const redisUp = (): Promise<number> => metricOf(proxy.adminUrl, 'reprise_redis_up')

    /**
     * Asks a question in each of `count` new conversations, and asks the same of the proxy without Redis. Resolves with
     * the median of the additional time, in milliseconds.
     */
    async function converse(name: string, count: number): Promise<number> {
      const added: number[] = []
      for (let i = 0; i < count; i++) {
        const without = await new SharedConversation(engine, `${name} ${i}`).ask(control, 'ABCD')
        added.push((await new SharedConversation(engine, `${name} ${i}`).ask(proxy, 'ABCD')) - without)
      }
      return added.toSorted((a, b) => a - b)[count >> 1]!
    }

    /** Expects another proxy to find all turns of a conversation in Redis and to send them unchanged. */
    async function expectShared(conversation: SharedConversation): Promise<void> {
      const other = await startSharedProxy(engine, redis.url)
      closers.push(() => other.close())
      await conversation.bias(other, 'HGFEDCBA')
      await conversation.ask(other, 'HI')
    }

    test.each([
      ['killed and started anew, with nothing left', 'SIGKILL', 1_500],
      [`stopped for ${stoppedSeconds} s`, 'SIGSTOP', stoppedSeconds * 1_000],
    ] as [string, NodeJS.Signals, number][])(
      '%s: requests go on, and its state is whole within 5 s',
      { timeout: 60_000 },
      async (_title, signal, away) => {
        await converse('warm', 30)
        await converse('before', 30)
        const late = await lateReads()
        const conversation = new SharedConversation(engine, 'lasting')
        await conversation.bias(proxy, 'DCBA')
        await conversation.ask(proxy, 'ABCD')
        await waitFor(async () => (await turnKeys()).length === 2 * 62)
        const known = await turnKeys()

        const left = performance.now()
        if (signal === 'SIGKILL') await redis.kill()
        else redis.signal(signal)
        await converse('during', 30)
        // once Redis has not answered a request in time, further requests do not wait for it
        expect((await lateReads()) - late).toBeLessThanOrEqual(3)
        await conversation.ask(proxy, 'CBEA')
        await waitFor(async () => (await redisUp()) === 0, 2_000)
        await pause(Math.max(0, away - (performance.now() - left)))

        if (signal === 'SIGKILL') {
          const { port } = redis
          await redis.close()
          redis = await startRedis({ port })
        } else redis.signal('SIGCONT')
        await waitFor(async () => (await turnKeys()).length === 2 * 93, wholeWithinMilliseconds)
        expect(await turnKeys()).toEqual(expect.arrayContaining(known))
        expect(await redisUp()).toBe(1)
        await expectShared(conversation)
      },
    )

    test('full: requests go on and Redis counts as up; with room again its state is whole within 5 s', async () => {
      const conversation = new SharedConversation(engine, 'lasting')
      await conversation.bias(proxy, 'DCBA')
      await conversation.ask(proxy, 'ABCD')
      await waitFor(async () => (await turnKeys()).length === 4)
      const refused = (): Promise<number> => metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="redis_write"}')
      await redis.client.config('SET', 'maxmemory', '1')
      await conversation.ask(proxy, 'CBEA')
      await converse('full', 10)
      await pause(600)
      expect(await turnKeys()).toHaveLength(4)
      expect(await redisUp()).toBe(1)
      expect(await refused()).toBeGreaterThan(0)
      await redis.client.config('SET', 'maxmemory', '0')
      await waitFor(async () => (await turnKeys()).length === 4 + 2 + 20, wholeWithinMilliseconds)
      await expectShared(conversation)
    })

    test('flushed: its state is whole within 5 s, again and again', async () => {
      const conversation = new SharedConversation(engine, 'lasting')
      await conversation.bias(proxy, 'DCBA')
      for (const names of ['ABCD', 'CBEA']) await conversation.ask(proxy, names)
      await waitFor(async () => (await turnKeys()).length === 6)
      const known = await turnKeys()
      for (let i = 0; i < 2; i++) {
        await redis.client.flushall()
        expect(await turnKeys()).toEqual([])
        await waitFor(async () => (await turnKeys()).length === 6, wholeWithinMilliseconds)
        expect(await turnKeys()).toEqual(known)
      }
      await expectShared(conversation)
    })

    test('replaced by a replica that has not heard of everything: its state is whole within 5 s', async () => {
      const conversation = new SharedConversation(engine, 'lasting')
      await conversation.bias(proxy, 'DCBA')
      await conversation.ask(proxy, 'ABCD')
      await waitFor(async () => (await turnKeys()).length === 4)
      const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] })
      closers.push(() => replica.close())
      await waitFor(async () => (await replica.client.keys('reprise:test:turn:*')).length === 4)
      // from here on, the replica lags behind
      await replica.client.replicaof('NO', 'ONE')
      await conversation.ask(proxy, 'CBEA')
      await waitFor(async () => (await turnKeys()).length === 6)
      const { port } = redis
      await redis.close()
      // the replica takes over: a server on the master's port that copies only what the replica has
      redis = await startRedis({ port, args: ['--replicaof', '127.0.0.1', String(replica.port)] })
      await waitFor(async () => (await redis.client.info('replication')).includes('master_link_status:up'))
      await redis.client.replicaof('NO', 'ONE')
      await waitFor(async () => (await turnKeys()).length === 6, wholeWithinMilliseconds)
      await expectShared(conversation)
    })

    test('not there when the proxy starts: it starts, says so, and shares from when Redis comes', async () => {
      const { port, url } = redis
      await redis.close()
      const late = await startSharedProxy(engine, url)
      closers.push(() => late.close())
      const conversation = new SharedConversation(engine, 'early')
      await conversation.bias(late, 'DCBA')
      await conversation.ask(late, 'ABCD')
      expect(await metricOf(late.adminUrl, 'reprise_redis_up')).toBe(0)
      redis = await startRedis({ port })
      await waitFor(async () => (await turnKeys()).length === 4, wholeWithinMilliseconds)
      await expectShared(conversation)
    })
  })
}
