import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agree, MirrorProxy } from './mirror-proxies.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'

const wholeWithinMilliseconds = 5_000

/**
 * Tests faults of a Redis through which proxies share a mirror. `stoppedSeconds`: how long a stopped one does not
 * answer.
 */
export function describeMirrorFaults(stoppedSeconds: number): void {
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

    /** Starts two proxies that have sent requests and received reports from the engine. */
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

    /** Expects Redis to hold everything: a proxy that joins now gets it all. */
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

    /** Sends and reports something while Redis is away. */
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

    test('started anew before anything was told: what is told then is', async () => {
      const [one, other] = [await start(), await start()]
      await waitFor(() => one.shared.isLoaded && other.shared.isLoaded)
      const { port } = redis
      await redis.close()
      redis = await startRedis({ port })
      await pause(1_000)
      one.send('a', 'x')
      await waitFor(() => other.held.a === 300)
    })

    test('a fault of ours while all is read again: it is read whole, and what Redis has lost is told', async () => {
      const [one, other] = await startTwo()
      for (const { link } of [one, other])
        Object.assign(link, { fault: new TypeError('a fault of ours'), faultAt: '0-0' })
      await redis.client.flushall()
      await waitFor(() => one.errors.length + other.errors.length === 2)
      await carryOn(one, other)
      await expectWhole(one, other)
    })

    test(`stopped for ${stoppedSeconds} s: the state is whole within 5 s of its return`, async () => {
      const [one, other] = await startTwo()
      redis.signal('SIGSTOP')
      await carryOn(one, other)
      await pause(stoppedSeconds * 1_000)
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
        await waitFor(
          async () => (await redis.client.xlen('reprise:test:mirror:{engine}:log:4')) >= 2,
          wholeWithinMilliseconds,
        )
        // Redis has everything once no proxy has anything left to write
        await waitFor(() => one.shared.waiting + other.shared.waiting === 0)
      }
      await expectWhole(one, other)
    })

    test('replaced by a replica that has not heard of everything: the state is whole within 5 s', async () => {
      const [one, other] = await startTwo()
      const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] })
      open.push(replica)
      const log = 'reprise:test:mirror:{engine}:log:4'
      const length = await redis.client.xlen(log)
      await waitFor(async () => (await replica.client.xlen(log)) === length)
      // from here on, the replica lags behind
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
}
