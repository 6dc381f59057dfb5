import { beforeEach, expect, test } from 'vitest'
import { ApiKeys } from '../access/api-keys.ts'
import { RateLimits } from '../access/rate-limits.ts'
import type { RedisCommand } from './connection/redis-command.ts'
import { RedisDouble } from './connection/redis-double.fixture.ts'
import { SharedLimits } from './shared-limits.ts'

type Entry = [id: string, fields: string[]]

const records = [
  { name: 'a', sha256: 'a'.repeat(64), requests_per_minute: 10, prompt_tokens_per_minute: 1_000 },
  { name: 'free', sha256: 'f'.repeat(64) },
]
let redis: RedisDouble
let feed: Entry[]
let now: number
let faults: string[]
let alone: number

beforeEach(() => {
  redis = new RedisDouble()
  feed = []
  now = 1_000_000
  faults = []
  alone = 0
  redis.answer = ({ name, args }: RedisCommand) => {
    const [start, id] = [String(args.at(-1)), `${now}-${feed.length}`]
    if (name === 'xadd') feed.push([id, args.slice(-2).map(String)])
    if (name !== 'xreadBuffer') return { value: id }
    const news = feed.slice(feed.findIndex(([known]) => known === start) + 1, undefined).slice(0, Number(args[1]))
    const told = news.map(([id, fields]) => [Buffer.from(id), fields.map((field) => Buffer.from(field))])
    return { value: told.length > 0 ? [['key', told]] : null }
  }
})

function start(proxy: string, shown = records) {
  const [limits, keys] = [new RateLimits(), new ApiKeys(shown)]
  const clocks = { now: () => now + 3_600_000 * proxy.charCodeAt(0) }
  const onFault = (reason: string, count = 1): void => {
    if (reason === 'redis_limits') alone += count
    else faults.push(reason)
  }
  const shared = new SharedLimits({
    limits,
    keys: () => keys,
    redis,
    namespace: 'n',
    proxy,
    ttlSeconds: 600,
    onFault,
    ...clocks,
  })
  const key = keys.entries[0]!
  return {
    shared,
    take: (tokens = 1) => limits.take(key, tokens, clocks.now()).ok,
    look: (tokens: number) => limits.look(key, tokens, clocks.now()),
  }
}

test('what one proxy lets through the other does not, and a third that starts later knows it', async () => {
  const [a, b] = [start('a'), start('b')]
  for (let i = 0; i < 6; i++) expect(a.take()).toBe(true)
  await a.shared.share()
  await b.shared.share()
  for (let i = 0; i < 4; i++) expect(b.take()).toBe(true)
  expect(b.take()).toBe(false)
  await b.shared.share()
  const c = start('c')
  for (const { shared } of [a, c]) await shared.share()
  expect([a.take(), c.take()]).toEqual([false, false])
  now += 6_000
  expect([a.take(), b.take(), c.take()]).toEqual([true, true, true])
})

test('a proxy counts nothing twice, neither its own nor what it has read', async () => {
  const [a, b] = [start('a'), start('b')]
  for (let i = 0; i < 5; i++) a.take(100)
  for (let i = 0; i < 3; i++) for (const { shared } of [a, b]) await shared.share()
  for (const one of [a, b]) expect(one.look(500)).toEqual({ ok: true })
  for (const one of [a, b]) expect(one.look(501).ok).toBe(false)
})

test('use of more than a minute ago is over, and other keys are not concerned', async () => {
  const a = start('a')
  for (let i = 0; i < 10; i++) a.take()
  await a.shared.share()
  now += 60_001
  const [b, c] = [start('b'), start('c')]
  c.take()
  await c.shared.share()
  await b.shared.share()
  for (let i = 0; i < 9; i++) expect(b.take()).toBe(true)
  expect(b.take()).toBe(false)
})

test('while Redis is away each proxy limits alone, which is counted, and nobody is told later', async () => {
  const [a, b] = [start('a'), start('b')]
  redis.isUp = false
  for (let i = 0; i < 10; i++) expect(a.take()).toBe(true)
  expect(a.take()).toBe(false)
  await a.shared.share()
  expect(alone).toBe(10)
  redis.isUp = true
  for (const { shared } of [a, b]) await shared.share()
  expect([feed.length, b.take()]).toEqual([0, true])
})

test('what Redis refuses is counted too', async () => {
  const a = start('a')
  a.take()
  redis.answer = ({ name }) => (name === 'xadd' ? { error: new Error('OOM') } : { value: null })
  await a.shared.share()
  expect(alone).toBe(1)
})

test('without limits nothing is read or written', async () => {
  const a = start('a', records.slice(1))
  for (let i = 0; i < 5; i++) a.take()
  await a.shared.share()
  expect(redis.batches).toEqual([])
})

test.each(['', '{}', '[[1,1,1]]', '[["a",-1,0]]', '[["a",1,1e30]]', '[["a",1]]', '[["a",null,1]]'])(
  'what Redis has is not trusted: %s',
  async (text) => {
    const b = start('b')
    feed.push([`${now}-0`, ['a', text.replaceAll('"a"', `"${'a'.repeat(16)}"`)]])
    await b.shared.share()
    expect(faults).toEqual(['redis_value'])
    for (let i = 0; i < 10; i++) expect(b.take()).toBe(true)
  },
)

test('a feed longer than one read is read to its end', async () => {
  const b = start('b')
  for (let i = 0; i < 600; i++) feed.push([`${now}-${i}`, ['a', `[["${'a'.repeat(16)}",0,1]]`]])
  await b.shared.share()
  expect(b.look(400).ok).toBe(true)
  expect(b.look(401).ok).toBe(false)
})
