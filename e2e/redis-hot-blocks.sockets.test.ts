import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import { pack } from '#proxy/redis/codec/pack.ts'
import { describeHotBlocks } from '#proxy/telemetry/hot-blocks/hot-blocks.contract.ts'
import { exchangeAll, HotBlockProxies, type HotBlockProxy, linkFaults, sizeOf } from './hot-block-proxies.ts'
import { hasRedis, waitFor } from './redis-server.ts'

describe.skipIf(!hasRedis)('counts of hot blocks that proxies share through Redis (needs redis-server)', () => {
  let proxies: HotBlockProxies
  let one: HotBlockProxy
  let other: HotBlockProxy

  beforeAll(async () => {
    proxies = await HotBlockProxies.start()
  })

  afterAll(() => proxies.close())

  beforeEach(() => {
    proxies.begin()
    one = proxies.create()
    other = proxies.create()
  })

  describeHotBlocks('shared through Redis', (capacity) => {
    proxies.begin()
    return proxies.create(capacity).hot
  })

  test('two proxies show the sum of what both were asked for, with sizes, and so does one that joins late', async () => {
    one.ask(['a', 'a', 'b'])
    other.ask(['b', 'a', 'long'])
    await exchangeAll(one, other)
    const late = proxies.create()
    await exchangeAll(late)
    const hot = (name: string, count: number) => ({ block: toBlockId(name), count, size: sizeOf(name) })
    for (const proxy of [one, other, late]) {
      expect(proxy.hot.top(10)).toEqual([hot('a', 3), hot('b', 2), hot('long', 1)])
    }
    // a new request counts at once in its own proxy, and in the other after the next exchange
    one.ask('a')
    expect([one, other].map((proxy) => proxy.counts('a', 'b', 'long')[0])).toEqual([4, 3])
    await exchangeAll(one, other)
    expect(other.counts('a', 'b', 'long')[0]).toBe(4)
    expect(one.faults).toEqual([])
  })

  test('a proxy that ends has written what it counted, and one that begins shows it and goes on from it', async () => {
    one.hot.start()
    one.ask('aba')
    await one.hot.close(2_000)
    other.hot.start()
    await waitFor(() => other.counts('a', 'b')[0] === 2)
    other.ask('a')
    await other.hot.close(2_000)
    const last = proxies.create()
    await exchangeAll(last)
    expect(last.counts('a', 'b')).toEqual([3, 1])
  })

  test('no key tells the text of a block, each has a time to live, and all lie in one slot', async () => {
    const { client } = proxies.server
    for (const proxy of [one, other]) proxy.ask(['my secret words', 'b'])
    await exchangeAll(one, other)
    const keys = await client.keys(`reprise:${proxies.namespace}:*`)
    expect(keys).toHaveLength(1)
    for (const key of keys) {
      expect(key).toMatch(/^reprise:n\d+:hot:\{blocks\}:/)
      expect(await client.ttl(key)).toBeGreaterThan(90)
    }
    expect(JSON.stringify(await client.xrange(proxies.countsKey, '-', '+'))).not.toMatch(/secret|words/)
  })

  const tell = (key: string, row: unknown[]): Promise<unknown> =>
    proxies.server.client.xadd(key, '*', 'e', pack([1, 0, [row]]))

  test.each([
    ['what is no counts', (key: string) => proxies.server.client.xadd(key, '*', 'e', 'x')],
    ['members that are no blocks', (key: string) => tell(key, ['x', 5, 1])],
    [
      'a block that is asked for without end',
      (key: string) => tell(key, [toBlockId('z'), Number.POSITIVE_INFINITY, 1]),
    ],
    ['counts of another type', (key: string) => proxies.server.client.set(key, 'hello', 'EX', 100)],
  ])('what cannot be relied on is told of, and the counts are right again: %s', async (_title, spoil) => {
    one.ask('aab')
    other.ask('bc')
    await exchangeAll(one, other)
    await proxies.server.client.del(proxies.countsKey)
    await spoil(proxies.countsKey)
    await exchangeAll(one, other)
    for (const proxy of [one, other]) expect(proxy.counts('a', 'b', 'c')).toEqual([2, 2, 1])
    expect([...one.faults, ...other.faults]).toContain('redis_value')
  })

  test('what Redis has lost, the proxies that still run give back', async () => {
    one.ask('aab')
    other.ask('abb')
    await exchangeAll(one, other)
    await proxies.lose()
    await exchangeAll(one, other)
    for (const proxy of [one, other]) expect(proxy.counts('a', 'b')).toEqual([3, 3])
  })

  test('a proxy that begins right after that loss does not count as a clearing', async () => {
    one.ask('aab')
    await exchangeAll(one, other)
    await proxies.lose()
    const late = proxies.create()
    await exchangeAll(late, one, other)
    for (const proxy of [one, other, late]) expect(proxy.counts('a', 'b')).toEqual([2, 1])
  })

  test('the end waits for a Redis that does not answer no longer than it may', async () => {
    await exchangeAll(one)
    proxies.server.signal('SIGSTOP')
    one.ask('a')
    const begin = performance.now()
    // Redis answers only after this
    await one.hot.close(200)
    const milliseconds = performance.now() - begin
    proxies.server.signal('SIGCONT')
    expect(milliseconds).toBeGreaterThan(150)
    expect(milliseconds).toBeLessThan(5_000)
  })

  describe('cleared', () => {
    test('all proxies forget, and what was asked for since counts', async () => {
      one.ask('aab')
      other.ask('bbb')
      await exchangeAll(one, other)
      one.hot.clear()
      expect(one.counts()).toEqual([])
      one.ask('c')
      await exchangeAll(one, other)
      for (const proxy of [one, other]) expect(proxy.counts('c')).toEqual([1])
      other.ask('cc')
      const late = proxies.create()
      await exchangeAll(other, one, late)
      for (const proxy of [one, other, late]) expect(proxy.counts('c')).toEqual([3])
    })

    test.each(linkFaults)('over a link that fails, too: %s', async (fault) => {
      one.ask('aab')
      await exchangeAll(one, other)
      one.link.fail(fault)
      one.hot.clear()
      await one.hot.share()
      await exchangeAll(one, other)
      for (const proxy of [one, other]) expect(proxy.counts()).toEqual([])
    })

    test('while counts are under way', async () => {
      await exchangeAll(one, other)
      one.ask('aab')
      const exchange = one.hot.share()
      one.hot.clear()
      one.ask('c')
      await exchange
      await exchangeAll(other)
      for (const proxy of [one, other]) expect(proxy.counts('c')).toEqual([1])
    })

    test('by a proxy that has only begun', async () => {
      one.ask('aab')
      await exchangeAll(one)
      other.hot.clear()
      await exchangeAll(other, one)
      for (const proxy of [one, other]) expect(proxy.counts()).toEqual([])
    })
  })
})
