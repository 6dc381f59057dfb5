import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { readEntry, writeEntry } from '#proxy/redis/codec/mirror-entry.ts'
import { agree, MirrorProxy, type MirrorProxyOptions, promptOf } from './mirror-proxies.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'

describe.skipIf(!hasRedis)('the mirror of a replica that proxies share through Redis (needs redis-server)', () => {
  let server: RunningRedis
  const open: MirrorProxy[] = []

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.close())

  beforeEach(async () => {
    await server.client.flushall()
  })

  afterEach(async () => {
    for (const proxy of open.splice(0)) await proxy.close()
  })

  async function start(options: Partial<MirrorProxyOptions> = {}): Promise<MirrorProxy> {
    const proxy = new MirrorProxy({ url: server.url, ...options })
    open.push(proxy)
    await proxy.start()
    await waitFor(() => proxy.shared.isLoaded)
    return proxy
  }

  const written = (proxy: MirrorProxy): Promise<void> => waitFor(() => proxy.shared.waiting === 0)

  test('what one proxy sent the other knows, to order and to predict by, and what the engine counted', async () => {
    const [one, other] = [await start(), await start()]
    one.send('a', 'x', 'y')
    one.apply({ type: 'used', request: 'a' as RequestId, promptTokens: 200 })
    await agree(one, other)
    expect(other.mirror.predictCachedTokens(promptOf('x', 'y'))).toBe(150)
    const { contexts } = promptOf('y', 'x')
    const { scope, blocks, sizes } = contexts[0]!
    expect(other.mirror.order(scope, blocks, sizes)?.order).toEqual([1, 0])
    one.apply({ type: 'failed', request: 'a' as RequestId })
    await waitFor(() => !other.mirror.has('a' as RequestId))
    const late = await start()
    expect(late.mirror.has('a' as RequestId)).toBe(false)
  })

  test('a fault of this program is reported, and both agree again afterwards', async () => {
    const [one, other] = [await start(), await start()]
    one.send('a', 'x')
    await agree(one, other)
    one.link.fault = new TypeError('a fault of ours')
    one.send('b', 'x', 'y')
    await waitFor(() => one.errors.length > 0)
    other.send('c', 'z')
    await waitFor(() => Object.keys(one.held).length === 3)
    await agree(one, other)
    expect(Object.keys(other.held)).toEqual(['a', 'b', 'c'])
    expect(one.errors).toEqual([new TypeError('a fault of ours')])
  })

  test('what the engine tells one proxy of a request of the other both know', async () => {
    const [one, other] = [await start(), await start()]
    await other.snapshot('g', 0)
    await waitFor(() => one.replicaMirror.state.generation === 'g')
    one.send('a', 'x', 'y')
    one.apply({ type: 'used', request: 'a' as RequestId, promptTokens: 400 })
    await agree(one, other)
    await other.report('g', 1, { a: 200 })
    await waitFor(() => one.held.a === 200)
    await agree(one, other)
    await waitFor(() => one.replicaMirror.state.sequence === 1)
    // the engine may continue to report to either proxy
    expect(await one.report('g', 2, { a: 0 })).toEqual({ sequence: 2 })
    await waitFor(() => other.held.a === undefined)
  })

  /** Sends a request, learns its tokens from the engine and ends it. Returns the tokens predicted as cached. */
  const run = (proxy: MirrorProxy, name: string, tokens: readonly number[]): number | undefined => {
    const request = name as RequestId
    proxy.send(name, 'x', 'y')
    const mirror = proxy.replicaMirror.cache.tokens
    mirror.send(request)
    mirror.learn(request, { tokens: Uint32Array.from(tokens), scope: '' }, 1)
    const predicted = mirror.predict(request)
    mirror.end(request)
    return predicted
  }

  test('what the engine tells one proxy it has lost, or holds anew, the other predicts by in tokens', async () => {
    const [one, other] = [await start(), await start()]
    await one.snapshot('g', 0)
    await waitFor(() => other.replicaMirror.state.generation === 'g')
    const tokens = [1, 2, 3, 4, 5, 6, 7, 8]
    run(other, 'a', tokens)
    await agree(one, other)
    // three tokens are too few to show in characters
    await one.report('g', 1, { a: 3 })
    await waitFor(() => other.replicaMirror.state.sequence === 1)
    expect(run(other, 'b', tokens)).toBe(3)
    await agree(one, other)
    await one.report('g', 2, { a: 0, b: 0 })
    await waitFor(() => other.replicaMirror.state.sequence === 2)
    expect(run(other, 'c', tokens)).toBe(0)
    await agree(one, other)
    await one.snapshot('h', 0, { c: 5 })
    await waitFor(() => other.replicaMirror.state.generation === 'h' && other.held.c !== undefined)
    await agree(one, other)
    expect(run(other, 'd', tokens)).toBe(5)
    await agree(one, other)
    await one.snapshot('i', 0)
    await waitFor(() => other.replicaMirror.state.generation === 'i')
    await agree(one, other)
    expect(run(other, 'e', tokens)).toBe(0)
  })

  test('what is reported while the other proxy has something to tell of the same request counts there, too', async () => {
    const [one, other] = [await start(), await start()]
    await one.snapshot('g', 0)
    await waitFor(() => other.replicaMirror.state.generation === 'g')
    run(other, 'a', [1, 2, 3, 4, 5, 6, 7, 8])
    await agree(one, other)
    other.link.hold()
    // wait until it is about to read
    await pause(30)
    other.apply({ type: 'used', request: 'a' as RequestId, promptTokens: 8 })
    await one.report('g', 1, { a: 3 })
    await written(one)
    other.link.goOn()
    await agree(one, other)
    expect(run(other, 'b', [1, 2, 3, 4, 5, 6, 7, 8])).toBe(3)
  })

  test('a report that comes before the other proxy has told of the request counts once it has', async () => {
    const [one, other] = [await start(), await start()]
    await other.snapshot('g', 0)
    await waitFor(() => one.replicaMirror.state.generation === 'g')
    await other.report('g', 1, { a: 50 })
    one.send('a', 'x', 'y')
    // 50 tokens of four characters each
    await waitFor(() => other.held.a === 200 && one.held.a === 200)
  })

  test('a proxy that was started anew, or joins late, loads it all, and a snapshot then names requests it knows', async () => {
    const one = await start()
    await one.snapshot('g', 0)
    for (let i = 0; i < 500; i++) one.send(`r${i}`, 'x', `y${i}`)
    await one.report('g', 1, { r7: 50, r8: 0 })
    await written(one)
    const { held } = one
    await one.close()
    open.length = 0
    const late = await start()
    expect(late.held).toEqual(held)
    expect(late.replicaMirror.state).toMatchObject({ generation: 'g', sequence: 1 })
    expect(await late.report('g', 2, { r9: 0 })).toEqual({ sequence: 2 })
    await late.snapshot('g', 3, { r10: 50 })
    expect(late.mirror.statistics).toMatchObject({ requests: 1, unknownRequests: 0 })
    const later = await start()
    await agree(late, later)
  })

  test('what is reported while all of it is loaded waits for it', async () => {
    const one = await start()
    for (let i = 0; i < 300; i++) one.send(`r${i}`, 'x', `y${i}`)
    await written(one)
    const late = new MirrorProxy({ url: server.url })
    open.push(late)
    await late.redis.connection.connect(2_000)
    late.shared.start()
    await late.snapshot('g', 0, { r299: 50 })
    expect(late.mirror.statistics).toMatchObject({ requests: 1, unknownRequests: 0 })
    await agree(one, late)
  })

  test.each(['replaced', 'cleared'])('when all begins anew (%s) it does for every proxy', async (type) => {
    const [one, other] = [await start(), await start()]
    one.send('a', 'x')
    other.send('b', 'y')
    await agree(one, other)
    if (type === 'replaced') await other.snapshot('g2', 0, { a: 50 })
    else other.replicaMirror.clear()
    const named = type === 'replaced' ? { a: 200 } : {}
    await waitFor(() => [one, other].every(({ held }) => JSON.stringify(held) === JSON.stringify(named)))
    one.send('c', 'z')
    await agree(one, other)
    const late = await start()
    await agree(one, late)
  })

  test('a slow writer of an older generation changes nothing of a newer one, and goes on with it', async () => {
    const [slow, fresh] = [await start(), await start()]
    await slow.snapshot('old', 0)
    slow.send('a', 'x')
    await agree(slow, fresh)
    await waitFor(() => fresh.replicaMirror.state.generation === 'old')
    // its writes do not reach Redis for a while
    slow.link.hold()
    await slow.report('old', 1, { a: 25 })
    await slow.snapshot('old', 2, { a: 50 })
    await pause(5)
    await fresh.snapshot('new', 0, { a: 10 })
    fresh.send('b', 'y')
    await written(fresh)
    slow.link.goOn()
    await agree(slow, fresh)
    expect(fresh.held).toMatchObject({ a: 40, b: 300 })
    expect(slow.replicaMirror.state).toMatchObject({ generation: 'new', sequence: 0 })
  })

  test('a clearing in knowledge of fewer reports than are told counts for nothing', async () => {
    const [one, other] = [await start(), await start()]
    await one.snapshot('g', 0)
    one.send('a', 'x')
    await agree(one, other)
    await waitFor(() => other.replicaMirror.state.generation === 'g')
    other.link.hold()
    // wait until it is about to read
    await pause(30)
    other.replicaMirror.clear()
    await one.report('g', 1, { a: 25 })
    await written(one)
    other.link.goOn()
    await agree(one, other)
    expect(other.held).toEqual({ a: 100 })
    expect(other.replicaMirror.state.sequence).toBe(1)
  })

  test('a generation that two proxies hear of is the same, whenever each did, and the later report of it counts', async () => {
    const [one, other] = [await start(), await start()]
    for (const { link } of [one, other]) link.hold()
    await pause(30)
    await one.snapshot('g', 3)
    await pause(5)
    await other.snapshot('g', 2)
    other.send('a', 'x')
    for (const { link } of [one, other]) link.goOn()
    await waitFor(() => other.replicaMirror.state.sequence === 3)
    await agree(one, other)
  })

  test('what cannot be relied on is left out and counted, and all else is loaded', async () => {
    const one = await start()
    one.send('a', 'a')
    await written(one)
    const log = 'reprise:test:mirror:{engine}:log:4'
    const entries = await server.client.xrangeBuffer(log, '-', '+')
    const entry = readEntry(entries.at(-1)![1][1])!
    const bytes = writeEntry({ ...entry, before: entry.tag, tag: 1 })
    const tell = (data: string | Buffer): Promise<unknown> => server.client.xadd(log, '*', 'e', data)
    await tell(bytes.subarray(0, -1))
    await tell('nonsense')
    await tell(writeEntry({ ...entry, records: [{ ...entry.records[0]!, request: 'b' as RequestId, prompt: bytes }] }))
    one.send('d', 'd')
    await written(one)
    const late = await start()
    expect(Object.keys(late.held)).toEqual(['a', 'd'])
    expect(late.faults).toEqual(['redis_value', 'redis_value', 'redis_value'])
    expect(one.held).toEqual(late.held)
  })

  test('an entry that none can follow does not end it: the log is begun anew', async () => {
    const one = await start()
    one.send('a', 'a')
    await written(one)
    const last = `${2n ** 64n - 1n}-${2n ** 64n - 2n}`
    await server.client.xadd('reprise:test:mirror:{engine}:log:4', last, 'e', 'x')
    await waitFor(() => one.faults.length > 0)
    one.send('b', 'b')
    await written(one)
    expect(Object.keys((await start()).held)).toEqual(['a', 'b'])
    expect(one.faults).toEqual(['redis_value'])
  })

  test('every key has a time to live, and all of a replica lie in one slot', async () => {
    const one = await start({ replica: 'an {odd} name' })
    await one.snapshot('g', 0)
    one.send('a', 'x')
    await written(one)
    for (const key of await server.client.keys('reprise:*')) {
      expect(await server.client.ttl(key)).toBeGreaterThan(0)
      if (key.includes(':mirror:')) expect(key).toMatch(/^reprise:test:mirror:\{[^{}]+\}:/)
    }
  })
})
