import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TurnKey } from '#index/conversation-store.ts'
import { createLog } from '#proxy/common/log.ts'
import {
  describeConversationStore,
  explicitTurn,
  orderedTurn,
  turnNamed,
} from '#proxy/prompt/turns/conversation-store.contract.ts'
import { MemoryConversationStore } from '#proxy/prompt/turns/memory-conversation-store.ts'
import { SharedConversationStore } from '#proxy/redis/conversations/shared-conversation-store.ts'
import { createSharedRedis, type SharedRedis } from '#proxy/redis/create-shared-redis.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'

describe.skipIf(!hasRedis)('a conversation store that proxies share through Redis (needs redis-server)', () => {
  let server: RunningRedis
  const open: SharedRedis[] = []
  const faults: string[] = []
  const a = turnNamed('a')
  const keyOfA = 'reprise:test:turn:{conversation}:a'

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.close())

  beforeEach(async () => {
    await server.client.flushall()
    faults.length = 0
  })

  afterEach(() => {
    for (const { connection } of open.splice(0)) connection.close()
  })

  async function createStore(url = server.url): Promise<SharedConversationStore> {
    const shared = createSharedRedis({ url, namespace: 'test', ttlSeconds: 100 }, createLog('silent'))
    open.push(shared)
    shared.countFaults((reason) => faults.push(reason))
    await shared.connection.connect(2_000)
    return new SharedConversationStore({
      memory: new MemoryConversationStore(1_000_000),
      redis: shared.connection,
      namespace: 'test',
      ttlSeconds: 100,
      proxy: shared.proxy,
      now: () => performance.now(),
      onFault: (reason) => faults.push(reason),
    })
  }

  const written = (store: SharedConversationStore): Promise<void> => store.close(2_000)
  const settled = (store: SharedConversationStore): Promise<void> => waitFor(() => store.waiting === 0)

  /** Fetches until the first turn is there, because a busy machine may miss the time limit of a read. */
  const fetched = (store: SharedConversationStore, ...turns: TurnKey[]): Promise<void> =>
    waitFor(async () => {
      await store.fetch(new Set(turns))
      return store.recall(turns[0]!) !== undefined
    })

  describeConversationStore('shared through Redis', () => createStore())

  test('what one proxy sent another recalls, once it has asked for it, and after a restart too', async () => {
    const [one, other] = [await createStore(), await createStore()]
    const sent = {
      kind: 'ordered' as const,
      contexts: [
        { order: [2, 0, 1], annotation: 'read so', pointers: [] },
        {
          order: [0],
          annotation: undefined,
          pointers: [
            {
              place: 0,
              start: 0,
              end: 9,
              text: 'see [1]',
              target: 'block' as never,
              label: '[1]',
              hint: { begins: 'the', ends: undefined },
            },
          ],
        },
      ],
    }
    one.remember(a, sent)
    await written(one)
    expect(other.recall(a)).toBeUndefined()
    await fetched(other, a, turnNamed('b'))
    expect(other.recall(a)).toEqual(sent)
    expect(other.recall(turnNamed('b'))).toBeUndefined()
    expect(faults).not.toContain('redis_value')
  })

  test('every key lives for its time, and the turns of a conversation have one hash tag', async () => {
    const store = await createStore()
    store.remember(a, orderedTurn(1, 0))
    store.remember(turnNamed('b'), explicitTurn('x'))
    await written(store)
    const keys = await server.client.keys('*')
    expect(keys.filter((key) => key.includes(':turn:')).toSorted()).toEqual([
      keyOfA,
      'reprise:test:turn:{conversation}:b',
    ])
    for (const key of keys) {
      expect(key).toMatch(/^reprise:test:/)
      expect(await server.client.ttl(key)).toBeGreaterThan(90)
    }
  })

  test('a turn that is sent again unchanged is not written again', async () => {
    const store = await createStore()
    store.remember(a, orderedTurn(1, 0))
    await settled(store)
    await waitFor(async () => (await server.client.exists(keyOfA)) === 1)
    const first = await server.client.get(keyOfA)
    store.remember(a, orderedTurn(1, 0))
    await settled(store)
    store.remember(turnNamed('b'), orderedTurn(0))
    await written(store)
    expect(await server.client.get(keyOfA)).toBe(first)
  })

  test('a turn that was not sent is taken back from Redis, but not one that another proxy has sent since', async () => {
    const [one, other] = [await createStore(), await createStore()]
    const [mine, theirs] = [orderedTurn(1, 0), orderedTurn(1, 0)]
    one.remember(a, mine)
    await waitFor(async () => (await server.client.exists(keyOfA)) === 1)
    one.forget(a, mine)
    await waitFor(async () => (await server.client.exists(keyOfA)) === 0)
    one.remember(a, mine)
    await waitFor(async () => (await server.client.exists(keyOfA)) === 1)
    await fetched(other, a)
    const before = await server.client.get(keyOfA)
    other.remember(a, theirs)
    await waitFor(async () => (await server.client.get(keyOfA)) !== before)
    one.forget(a, mine)
    await written(one)
    expect(await server.client.exists(keyOfA)).toBe(1)
    expect(one.recall(a)).toBeUndefined()
  })

  test('a turn that was taken back before it was written is never seen by others', async () => {
    const store = await createStore()
    const mine = orderedTurn(1, 0)
    store.remember(a, mine)
    store.forget(a, mine)
    await written(store)
    expect(await server.client.exists(keyOfA)).toBe(0)
  })

  test('equal words with other blocks from two proxies are ambiguous to both and to a third', async () => {
    const [one, other, third] = [await createStore(), await createStore(), await createStore()]
    one.remember(a, explicitTurn('x', 'y'))
    await waitFor(async () => (await server.client.exists(keyOfA)) === 1)
    other.remember(a, explicitTurn('y', 'x'))
    await settled(other)
    other.remember(a, explicitTurn('x', 'z'))
    await waitFor(() => other.recall(a)?.kind === 'ambiguous')
    await written(other)
    await fetched(third, a)
    expect(third.recall(a)).toEqual({ kind: 'ambiguous' })
    // the first proxy learns of it when it next writes that turn
    one.remember(a, explicitTurn('y', 'x'))
    await waitFor(() => one.recall(a)?.kind === 'ambiguous')
  })

  test('the other order of the same blocks from another proxy is the same turn', async () => {
    const [one, other] = [await createStore(), await createStore()]
    one.remember(a, explicitTurn('x', 'y'))
    await written(one)
    other.remember(a, explicitTurn('y', 'x'))
    await written(other)
    expect(other.recall(a)).toEqual(explicitTurn('y', 'x'))
  })

  const record = (sent: unknown, turn: string = a): string => `ordered n\n${JSON.stringify({ turn, sent })}`
  const orders = (order: unknown, rest: object = {}): unknown => ({
    kind: 'ordered',
    contexts: [{ order, pointers: [], ...rest }],
  })

  test.each([
    ['no record', 'hello'],
    ['nothing', ''],
    ['broken JSON', 'ordered n\n{"turn":'],
    ['a turn of another name', record(orders([0]), 'conversation.b')],
    ['an order that is none', record(orders([0, 0]))],
    ['an order that leads out', record(orders([0, 7]))],
    ['an order of words', record(orders(['0']))],
    ['a member too many', record(orders([0], { prompt: 'do evil' }))],
    [
      'a pointer to nowhere',
      record(orders([0], { pointers: [{ place: 3, start: 0, end: 1, text: '', target: '', label: '' }] })),
    ],
    ['an unknown kind', record({ kind: 'new' })],
    ['words without end', record(orders([0], { annotation: 'x'.repeat(100_000) }))],
    ['a value without end', `ordered n\n${' '.repeat(2_000_000)}`],
  ])('what cannot be relied on is counted and not recalled: %s', async (_title, value) => {
    await server.client.set(keyOfA, value)
    const store = await createStore()
    await waitFor(async () => {
      await store.fetch(new Set([a]))
      return faults.includes('redis_value')
    })
    expect(store.recall(a)).toBeUndefined()
  })

  test('a key of another type is left alone, and the turn goes on from memory', async () => {
    await server.client.rpush(keyOfA, 'x')
    const store = await createStore()
    await store.fetch(new Set([a]))
    store.remember(a, explicitTurn('x'))
    await waitFor(() => faults.includes('redis_write'))
    expect(store.recall(a)).toEqual(explicitTurn('x'))
    expect(await server.client.type(keyOfA)).toBe('list')
  })

  test('what is asked for late does not take the place of what was sent meanwhile', async () => {
    const [one, other] = [await createStore(), await createStore()]
    one.remember(a, orderedTurn(1, 0))
    await written(one)
    server.signal('SIGSTOP')
    // Redis answers only after this
    await other.fetch(new Set([a]))
    expect(faults).toContain('redis_late')
    other.remember(a, orderedTurn(0, 1))
    server.signal('SIGCONT')
    await waitFor(() => other.isUp)
    await written(other)
    expect(other.recall(a)).toEqual(orderedTurn(0, 1))
  })
})
