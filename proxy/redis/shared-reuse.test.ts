import { beforeEach, expect, test } from 'vitest'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import { RedisDouble } from './connection/redis-double.fixture.ts'
import { SharedReuse } from './shared-reuse.ts'

let redis: RedisDouble
let stored: string | null
let now: number
let faults: string[]
let sequence: number

beforeEach(() => {
  redis = new RedisDouble()
  stored = null
  now = 0
  faults = []
  sequence = 0
  redis.answer = ({ name, args }) => {
    if (name === 'set') stored = String(args[1])
    return { value: name === 'set' ? 'OK' : stored }
  }
})

function createProxy(proxy: string) {
  const mirror = new CacheMirror({ maxRequests: 10, maxBlocks: 10 })
  const replicaMirror = new ReplicaMirror('gpu-0' as ReplicaId, mirror)
  const onFault = (reason: string): void => void faults.push(reason)
  const common = { namespace: 'n', ttlSeconds: 300, now: () => now }
  const shared = new SharedReuse({ ...common, replicaMirror, redis, proxy, onFault })
  /** Delivers a report of its engine. */
  const hear = async (reuse: unknown): Promise<void> => {
    sequence += 1
    const body = { generation: 'g', sequence, requests: [], reuse }
    await replicaMirror.takeSnapshot(() => Promise.resolve(body))
  }
  return { shared, hear, replicaMirror }
}

const reuse = { ratio: 0.15, min_ratio: 0.05, max_ratio: 0.5 }
const writes = (): number => redis.batches.flat().filter(({ name }) => name === 'set').length

test('what one proxy is told the others know, and so do those that begin later', async () => {
  const [a, b] = [createProxy('a'), createProxy('b')]
  await a.hear(reuse)
  await a.shared.share()
  await b.shared.share()
  expect(b.replicaMirror.reuse).toEqual({ ratio: 0.15, minRatio: 0.05, maxRatio: 0.5 })
  await a.hear(null)
  await a.shared.share()
  const c = createProxy('c')
  for (const { shared } of [b, c]) await shared.share()
  expect([b.replicaMirror.reuse, c.replicaMirror.reuse]).toEqual([undefined, undefined])
})

test('who was told last is right, whoever that is', async () => {
  const [a, b] = [createProxy('a'), createProxy('b')]
  await a.hear(reuse)
  await a.shared.share()
  await b.hear({ ratio: 0.3, max_ratio: 1 })
  await b.shared.share()
  for (const { shared } of [a, b, a]) await shared.share()
  expect(a.replicaMirror.reuse).toEqual({ ratio: 0.3, minRatio: 0, maxRatio: 1 })
  expect(writes()).toBe(2)
})

test('nothing is written of an engine that reuses nothing so', async () => {
  const a = createProxy('a')
  await a.hear(null)
  for (let i = 0; i < 3; i++) await a.shared.share()
  expect(writes()).toBe(0)
})

test('it is written again before it ends, and when Redis has lost it', async () => {
  const a = createProxy('a')
  await a.hear(reuse)
  for (let i = 0; i < 3; i++) await a.shared.share()
  expect(writes()).toBe(1)
  now = 101_000
  await a.shared.share()
  expect(writes()).toBe(2)
  stored = null
  await a.shared.share()
  expect(writes()).toBe(3)
})

test.each([
  '',
  '7',
  '{}',
  '{"proxy":"a"}',
  '{"proxy":"a","reuse":{"ratio":2,"max_ratio":1}}',
  '{"proxy":"a","reuse":{"ratio":0.1,"min_ratio":0.2,"max_ratio":1}}',
  '{"proxy":1,"reuse":null}',
])('what Redis has is not trusted: %s', async (text) => {
  const b = createProxy('b')
  stored = text
  await b.shared.share()
  expect(b.replicaMirror.reuse).toBeUndefined()
  expect(faults).toEqual(['redis_value'])
})

test('while Redis is away, or does not take it, it is tried again', async () => {
  const a = createProxy('a')
  await a.hear(reuse)
  redis.isUp = false
  await a.shared.share()
  redis.isUp = true
  const { answer } = redis
  redis.answer = (command) => (command.name === 'set' ? { error: new Error('full') } : answer(command))
  await a.shared.share()
  expect([stored, faults]).toEqual([null, ['redis_write']])
  redis.answer = answer
  await a.shared.share()
  expect(JSON.parse(stored!)).toEqual({ proxy: 'a', reuse })
})
