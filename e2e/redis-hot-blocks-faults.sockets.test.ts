import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import { exchangeAll, HotBlockProxies, type HotBlockProxy } from './hot-block-proxies.ts'
import { hasRedis, startRedis, waitFor } from './redis-server.ts'

const wholeWithinMilliseconds = 5_000

describe.skipIf(!hasRedis)('counts of hot blocks and faults of Redis (needs redis-server)', () => {
  let proxies: HotBlockProxies
  let one: HotBlockProxy
  let other: HotBlockProxy
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    proxies = await HotBlockProxies.start()
    one = proxies.create()
    other = proxies.create()
  })

  afterEach(async () => {
    for (const { hot } of [one, other]) await hot.close(0)
    for (const close of closers.splice(0)) await close()
    await proxies.close()
  })

  /** Until both of them, and one that joins then, show these counts. */
  async function expectCounts(a: number, b: number, c: number): Promise<void> {
    const late = proxies.create()
    late.hot.start()
    closers.push(() => late.hot.close(0))
    await waitFor(() => {
      return [one, other, late].every((proxy) => String(proxy.counts('a', 'b', 'c')) === String([a, b, c]))
    }, wholeWithinMilliseconds)
  }

  test.each([
    ['stopped for 5 s', 5_000, 'SIGSTOP'],
    ['killed and started anew with nothing left', 500, 'SIGKILL'],
  ] as const)('%s: counting goes on, and all counts are whole within 5 s', async (_title, away, signal) => {
    for (const { hot } of [one, other]) hot.start()
    one.ask('aab')
    other.ask('bc')
    await expectCounts(2, 2, 1)
    if (signal === 'SIGKILL') await proxies.server.kill()
    else proxies.server.signal(signal)
    await waitFor(() => !proxies.connection.isUp)
    one.ask('ac')
    other.ask('a')
    expect(one.counts('a', 'b', 'c')).toEqual([3, 2, 2])
    expect(other.counts('a', 'b', 'c')).toEqual([3, 2, 1])
    await pause(away)
    if (signal === 'SIGKILL') {
      const again = await startRedis({ port: proxies.server.port })
      closers.push(() => again.close())
    } else proxies.server.signal('SIGCONT')
    await expectCounts(4, 2, 2)
  })

  test('flushed: all counts are whole within 5 s, again and again', async () => {
    for (const { hot } of [one, other]) hot.start()
    one.ask('aab')
    other.ask('bc')
    await expectCounts(2, 2, 1)
    for (let i = 0; i < 3; i++) {
      await proxies.server.client.flushall()
      await expectCounts(2, 2, 1)
    }
  })

  test('full: what was asked for meanwhile by both is added when there is room again', async () => {
    one.ask('aab')
    other.ask('bc')
    await exchangeAll(one, other)
    await proxies.server.client.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 3; i++) {
      one.ask('a')
      other.ask('a')
      await exchangeAll(one, other)
    }
    expect(one.counts('a', 'b', 'c')).toEqual([5, 2, 1])
    await proxies.server.client.config('SET', 'maxmemory', '0')
    await exchangeAll(one, other)
    await expectCounts(8, 2, 1)
  })

  test('replaced by a replica that has not heard of everything: all counts are whole within 5 s', async () => {
    for (const { hot } of [one, other]) hot.start()
    one.ask('aab')
    other.ask('bc')
    await expectCounts(2, 2, 1)
    const { client, port } = proxies.server
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(port)] })
    closers.push(() => replica.close())
    await waitFor(async () => (await replica.client.zcard(proxies.countsKey)) === 1 + 3)
    // from here on it is behind
    await replica.client.replicaof('NO', 'ONE')
    one.ask('ac')
    await expectCounts(3, 2, 2)
    expect(await client.zcard(proxies.countsKey)).toBe(1 + 3)
    await proxies.server.kill()
    // it takes the master's place: a server on its port that copies what the replica has, and no more
    const again = await startRedis({ port, args: ['--replicaof', '127.0.0.1', String(replica.port)] })
    closers.push(() => again.close())
    await waitFor(async () => (await again.client.info('replication')).includes('master_link_status:up'))
    await again.client.replicaof('NO', 'ONE')
    await expectCounts(3, 2, 2)
  })

  test.each([
    ['all of it, which its proxies find out', ''],
    ['counts alone, of which the connection tells', 'counts'],
  ])('set back to what it held before while connections hold: %s', async (_title, keys) => {
    const { client } = proxies.server
    one.ask('aab')
    other.ask('b')
    await exchangeAll(one, other)
    await proxies.save(keys)
    one.ask('ac')
    other.ask('c')
    await exchangeAll(one, other)
    await proxies.setBack()
    if (keys === 'counts') {
      const lost = new Promise<void>((onLost) => proxies.connection.listen({ onUp: () => {}, onLost }))
      for (const mark of await client.keys('reprise:*:mark:*')) await client.del(mark)
      await lost
    }
    await exchangeAll(one, other)
    await expectCounts(3, 2, 2)
  })

  test('the end waits for a Redis that does not answer no longer than it may', async () => {
    await exchangeAll(one)
    proxies.server.signal('SIGSTOP')
    one.ask('a')
    // it answers only after this
    await one.hot.close(200)
    proxies.server.signal('SIGCONT')
  })

  describe('what cannot be relied on', () => {
    const block = toBlockId('a')

    async function addStrange(key: string, count: number, score: string): Promise<void> {
      await proxies.server.client.zadd(key, ...Array.from({ length: count }, (_, i) => [score, `x${i}`]).flat())
    }

    async function setFloor(key: string, score: string): Promise<void> {
      const [head] = await proxies.server.client.zrange(key, '0', '0')
      await proxies.server.client.zadd(key, score, head!)
    }

    test.each([
      ['members that are no blocks', (key: string) => addStrange(key, 700, '5')],
      ['members without bounds', (key: string) => addStrange(key, 20, 'inf')],
      ['members of no count', (key: string) => addStrange(key, 20, '0.25')],
      ['members below all others', (key: string) => addStrange(key, 20, '-inf')],
      ['a block that is asked for without end', (key: string) => proxies.server.client.zadd(key, 'inf', block)],
      ['another type', (key: string) => proxies.server.client.set(key, 'hello', 'EX', 100)],
      ['a floor beyond all numbers', (key: string) => setFloor(key, '1e300')],
      ['a negative floor', (key: string) => setFloor(key, '-3')],
    ])('is removed and told of, and the counts are right: %s', async (_title, spoil) => {
      one.ask('aab')
      other.ask('bc')
      await exchangeAll(one, other)
      await spoil(proxies.countsKey)
      await exchangeAll(one, other, one)
      one.ask('c')
      await exchangeAll(one, other)
      await expectCounts(2, 2, 2)
      expect([...one.faults, ...other.faults]).toContain('redis_value')
    })

    test.each([
      ['nonsense', (key: string) => proxies.server.client.set(key, 'hello')],
      ['a number ahead of all', (key: string) => proxies.server.client.set(key, '9e99')],
      ['another type', (key: string) => proxies.server.client.rpush(key, 'x')],
    ])('in place of what was heard of a proxy last: %s', async (_title, spoil) => {
      const { client } = proxies.server
      one.ask('aab')
      await exchangeAll(one, other)
      for (const key of await client.keys('reprise:*:writer:*')) {
        await client.del(key)
        await spoil(key)
      }
      one.ask('b')
      other.ask('c')
      await exchangeAll(one, other)
      await expectCounts(2, 2, 1)
    })
  })
})
