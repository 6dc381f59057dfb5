import { beforeEach, describe, expect, test } from 'vitest'
import { blocksIn, createKnown, documentText, embed, findIn, rerank } from '../chunks/chunk-texts.fixture.ts'
import { KnownChunks } from '../chunks/known-chunks.ts'
import { readChunkEntry, writeChunkEntry } from './codec/chunk-entry.ts'
import { pack } from './codec/pack.ts'
import { RedisDouble } from './connection/redis-double.fixture.ts'
import { SharedChunks } from './shared-chunks.ts'

let redis: RedisDouble
let feed: { id: number; proxy: string; data: Buffer }[]
let now: number
let faults: string[]

beforeEach(() => {
  redis = new RedisDouble()
  feed = []
  now = 1_000_000
  faults = []
  let last = 0
  redis.answer = ({ name, args }) => {
    if (name === 'xadd') {
      feed = feed.filter(({ id }) => id >= Number(args[3]))
      last = Math.max(now, last + 1)
      feed.push({ id: last, proxy: String(args[5]), data: args[6] as Buffer })
      return { value: `${last}-0` }
    }
    if (name !== 'xreadBuffer') return { value: 1 }
    const after = Number(String(args[4]).split('-')[0])
    const entries = feed.filter(({ id }) => id > after).slice(0, Number(args[1]))
    if (entries.length === 0) return { value: null }
    const fed = entries.map(({ id, proxy, data }) => [Buffer.from(`${id}-0`), [Buffer.from(proxy), data]])
    return { value: [[Buffer.from('feed'), fed]] }
  }
})

function createProxy(proxy: string, source: number): { chunks: KnownChunks; shared: SharedChunks } {
  const chunks = new KnownChunks({ maxChunks: 10_000, source })
  const onFault = (reason: string): void => void faults.push(reason)
  const shared = new SharedChunks({
    chunks,
    redis,
    namespace: 'n',
    ttlSeconds: 100,
    proxy,
    onFault,
    wallClock: () => now,
  })
  return { chunks, shared }
}

/** Known chunks as given to one proxy and as seen by another: the same object if there is only one proxy. */
interface KnownChunksSides {
  readonly told: KnownChunks
  readonly seen: KnownChunks
  /** Resolves when everything that was given is seen. */
  settle(): Promise<void>
}

function createAlone(): KnownChunksSides {
  const chunks = createKnown()
  return { told: chunks, seen: chunks, settle: () => Promise.resolve() }
}

function createTwo(): KnownChunksSides {
  const [a, b] = [createProxy('a', 1), createProxy('b', 2)]
  const settle = async (): Promise<void> => {
    await a.shared.share()
    await b.shared.share()
  }
  return { told: a.chunks, seen: b.chunks, settle }
}

describe.each([
  ['in memory', createAlone],
  ['of another proxy', createTwo],
])('known chunks %s', (_, create) => {
  const docs = Array.from({ length: 8 }, (_, n) => documentText(n))
  let sides: KnownChunksSides
  const list = (...places: number[]): string => places.map((n) => docs[n]).join('\n\n')
  const found = (text: string, tenant = 'default'): number[][] =>
    blocksIn(sides.seen, text, tenant).map((blocks) => blocks.map((block) => docs.indexOf(block)))

  beforeEach(() => {
    sides = create()
  })

  test('what is registered, embedded and reranked is known', async () => {
    await sides.told.put([{ text: docs[0]! }, { text: docs[1]!, id: 'one' }], undefined)
    await embed(sides.told, [docs[2]!, docs[3]!])
    await rerank(sides.told, 'q', [docs[4]!, docs[5]!])
    await rerank(sides.told, 'r', [docs[5]!, docs[6]!, docs[4]!])
    await sides.settle()
    expect(sides.seen.size).toBe(7)
    expect(found(list(5, 3, 1, 0, 2, 4))).toEqual([[5, 3, 1, 0, 2, 4]])
  })

  test('whose it is, and in which order it was given, is known as well', async () => {
    await embed(sides.told, [docs[0]!, docs[1]!, docs[2]!], 'key:a')
    await sides.settle()
    expect(found(list(2, 1, 0), 'key:a')).toEqual([[2, 1, 0]])
    expect(found(list(2, 1, 0), 'key:b')).toEqual([])
    expect(found(list(0, 1, 2), 'key:a')).toEqual([])
  })

  test('two reranks make chunks of their candidates, one does not', async () => {
    await rerank(sides.told, 'q', [docs[0]!, docs[1]!])
    await sides.settle()
    expect(found(list(1, 0))).toEqual([])
    await rerank(sides.told, 'r', [docs[1]!, docs[2]!, docs[0]!])
    await sides.settle()
    expect(found(list(1, 0))).toEqual([[1, 0]])
  })

  test('what was seen in two other orders is known to have none', async () => {
    await embed(sides.told, [docs[0]!, docs[1]!, docs[2]!])
    await sides.settle()
    for (const [order, question] of [
      [[2, 1, 0], 'q'],
      [[0, 2, 1], 'r'],
    ] as const) {
      const { lists } = findIn(sides.told, list(...order))
      sides.told.noteLists(
        lists.map(({ chunks }) => chunks),
        question,
      )
    }
    await sides.settle()
    expect(found(list(0, 1, 2))).toEqual([[0, 1, 2]])
  })

  test('what came alone is a chunk when more of it comes', async () => {
    await embed(sides.told, [docs[1]!])
    await embed(sides.told, [docs[0]!])
    await sides.settle()
    expect(found(list(0, 1))).toEqual([])
    await embed(sides.told, [docs[2]!])
    await sides.settle()
    expect(found(list(0, 1))).toEqual([[0, 1]])
  })

  test('chunks with white space at their ends keep it', async () => {
    await sides.told.put([{ text: `${docs[0]}\n` }, { text: `  ${docs[2]}\n\n` }, { text: `${docs[4]} ` }], undefined)
    await sides.settle()
    const text = `${docs[4]} \n\n  ${docs[2]}\n\n\n\n${docs[0]}\n`
    expect(blocksIn(sides.seen, text)).toEqual([[`${docs[4]} `, `  ${docs[2]}\n\n`, `${docs[0]}\n`]])
  })

  test('what is forgotten is forgotten: by id, by text, of a tenant, all', async () => {
    await sides.told.put(
      docs.slice(0, 4).map((text, n) => ({ id: `d${n}`, text })),
      undefined,
    )
    await sides.told.put([{ text: docs[5]! }, { text: docs[4]! }], 'acme')
    await sides.settle()
    expect(sides.told.forget(undefined, { ids: ['d0', 'd9'] })).toBe(1)
    expect(sides.told.forget(undefined, { texts: [docs[1]!, docs[7]!] })).toBe(1)
    await sides.settle()
    expect([sides.seen.size, found(list(3, 2)), found(list(1, 0))]).toEqual([4, [[3, 2]], []])
    expect(sides.told.forget('acme')).toBe(2)
    await sides.settle()
    expect(sides.seen.size).toBe(2)
    await embed(sides.told, [docs[6]!, docs[7]!])
    expect(sides.told.clear()).toBe(4)
    await sides.settle()
    expect([sides.told.size, sides.seen.size]).toEqual([0, 0])
  })
})

test('a proxy that joins late learns what was told before, as long as it lives', async () => {
  const a = createProxy('a', 1)
  await embed(a.chunks, [documentText(1), documentText(2)])
  await a.shared.share()
  const b = createProxy('b', 2)
  await b.shared.share()
  expect(b.chunks.size).toBe(2)
  expect(redis.batches.flat().every(({ key }) => key === 'reprise:n:chunks:{chunks}')).toBe(true)
  now += 60_000
  // repeated by whichever proxy notices first, and by no other
  await b.shared.share()
  await a.shared.share()
  expect(feed.map(({ proxy }) => proxy)).toEqual(['a', 'b'])
  now += 60_000
  const c = createProxy('c', 3)
  await c.shared.share()
  expect(c.chunks.size).toBe(2)
})

test('what Redis did not take is told later, and all that is known when it lost it', async () => {
  const a = createProxy('a', 1)
  const { answer } = redis
  redis.answer = (command) => (command.name === 'xadd' ? { error: new Error('OOM') } : answer(command))
  await embed(a.chunks, [documentText(1), documentText(2)])
  await a.shared.share()
  redis.answer = answer
  await a.shared.share()
  expect([feed.length, faults]).toEqual([1, ['redis_write']])
  feed = []
  for (const listener of redis.listeners) listener.onLost()
  await a.shared.share()
  const b = createProxy('b', 2)
  await b.shared.share()
  expect(b.chunks.size).toBe(2)
})

test('while Redis is away nothing waits for it, and what is too much to keep is told of as a whole', async () => {
  const a = createProxy('a', 1)
  redis.isUp = false
  await embed(a.chunks, [documentText(1), documentText(2)])
  await a.shared.share()
  expect([a.chunks.size, redis.batches.length]).toEqual([2, 0])
  redis.isUp = true
  await a.shared.share()
  expect(feed).toHaveLength(1)
})

test('what cannot be relied on is counted and passed over', async () => {
  const a = createProxy('a', 1)
  await embed(a.chunks, [documentText(1), documentText(2)])
  await a.shared.share()
  const [good] = feed
  feed = [
    { id: 1, proxy: 'x', data: Buffer.from('nonsense') },
    { id: 2, proxy: 'x', data: good!.data.subarray(0, -3) },
    { ...good!, id: 3 },
  ]
  const b = createProxy('b', 2)
  await b.shared.share()
  expect([b.chunks.size, faults]).toEqual([2, ['redis_value', 'redis_value']])
})

test('an entry with a number that is none, or too large, is none', () => {
  const row = [[1, 2, 3, 4], '', '', 5, 6, 0, 500, 1, 7, 8, 9, 10, 11]
  const entryOf = (own: readonly unknown[]): ReturnType<typeof readChunkEntry> =>
    readChunkEntry(pack([4, '=default', 'learned', [own]]))
  expect(entryOf(row)).toMatchObject({ records: [{ hash: 5, anchor: 6, length: 500, flags: 1, order: 9 }] })
  for (const odd of [2n ** 60n, { valueOf: 1, toString: 1 }, 1e15, -1e300, '1', null])
    for (const at of row.keys()) {
      const own = row.map((value, place) => (place !== at ? value : at === 0 ? [odd, 2, 3, 4] : odd))
      expect(entryOf(own)).toBeUndefined()
    }
})

test('an entry that was cut off anywhere is none', async () => {
  const chunks = createKnown()
  await embed(chunks, [` ${documentText(1)}\n`, documentText(2)])
  const records = [...chunks.records()].map(([, record]) => record)
  const data = writeChunkEntry({ kind: 'learned', scope: '=default', records })
  expect(readChunkEntry(data)).toEqual({ kind: 'learned', scope: '=default', records })
  for (let end = 0; end < data.length; end++) expect(readChunkEntry(data.subarray(0, end))).toBeUndefined()
})
