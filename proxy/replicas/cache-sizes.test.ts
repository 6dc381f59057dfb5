import { beforeEach, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { type CacheSizeTarget, followCacheSizes } from './cache-sizes.ts'
import type { ReplicaState } from './replica.ts'

class TargetDouble {
  readonly id = 'a' as ReplicaId
  readonly adapter: CacheSizeTarget['adapter']
  readonly replicaMirror = { state: { generation: 'g' as string | undefined } }
  readonly events = undefined
  state: ReplicaState = 'ready'
  cacheConfig: CacheSize | undefined
  statedCache: CacheSize | undefined

  constructor(kind: 'vllm' | 'openai' = 'vllm') {
    this.adapter = adapterFor(kind)
  }
}

const small = { pageTokens: 16, capacityTokens: 160 }
const large = { pageTokens: 16, capacityTokens: 320 }
let replica = new TargetDouble()
let answers: (CacheSize | undefined)[] = []
let asked = 0
let unknown = 0
let wantsEstimates = true
let sizes = create()

function create(...replicas: TargetDouble[]): (now: number) => void {
  return followCacheSizes(() => replicas, {
    ask: () => {
      asked += 1
      return Promise.resolve(answers.shift())
    },
    wantsEstimates: () => wantsEstimates,
    onUnknown: () => {
      unknown += 1
    },
  })
}

async function tick(now: number): Promise<void> {
  sizes(now)
  await Promise.resolve()
  await Promise.resolve()
}

beforeEach(() => {
  replica = new TargetDouble()
  answers = []
  asked = 0
  unknown = 0
  wantsEstimates = true
  sizes = create(replica)
})

test('an engine that tells nothing of its cache is asked for estimates alone, until it does', async () => {
  answers = [undefined, small, large]
  replica.replicaMirror.state.generation = undefined
  wantsEstimates = false
  for (let now = 0; now < 60_000; now += 500) await tick(now)
  expect(asked).toBe(0)
  wantsEstimates = true
  for (let now = 0; now < 60_000; now += 500) await tick(now)
  expect([replica.statedCache, replica.cacheConfig, asked, unknown]).toEqual([small, undefined, 2, 0])
  replica.replicaMirror.state.generation = 'g'
  await tick(60_000)
  expect([replica.statedCache, replica.cacheConfig]).toEqual([large, large])
})

test('an engine is asked at the start, and not again while nothing happens', async () => {
  answers = [small]
  for (let now = 0; now < 60_000; now += 500) await tick(now)
  expect(replica.cacheConfig).toEqual(small)
  expect(asked).toBe(1)
})

test('an engine that begins a new life is asked again; until it answers, what was said before is believed', async () => {
  answers = [small, undefined, large]
  await tick(0)
  replica.replicaMirror.state.generation = 'g1'
  await tick(500)
  expect([replica.cacheConfig, asked]).toEqual([small, 2])
  replica.replicaMirror.state.generation = 'g2'
  await tick(1000)
  expect([replica.cacheConfig, asked]).toEqual([large, 3])
})

test.each(['unhealthy', 'open'] as const)('one that is %s is not asked before it is back', async (state) => {
  answers = [small, large]
  await tick(0)
  replica.state = state
  for (let now = 500; now < 600_000; now += 500) await tick(now)
  expect(asked).toBe(1)
  replica.state = 'ready'
  await tick(600_000)
  expect([replica.cacheConfig, asked]).toEqual([large, 2])
})

test('one that says nothing is asked now and then, and complained of once', async () => {
  answers = [undefined, undefined, undefined, small]
  for (let now = 0; now < 40_000; now += 500) await tick(now)
  expect([replica.cacheConfig, asked, unknown]).toEqual([small, 4, 1])
})

test('without reports an engine is asked again after some minutes', async () => {
  answers = [small, large]
  for (let now = 0; now <= 120_000; now += 500) await tick(now)
  expect([replica.cacheConfig, asked]).toEqual([large, 2])
})

test('a new life that begins while the last answer is awaited is asked about too', async () => {
  const waiting: ((size: CacheSize) => void)[] = []
  sizes = followCacheSizes(() => [replica], {
    ask: () => new Promise((resolve) => waiting.push(resolve)),
    wantsEstimates: () => true,
    onUnknown: () => {},
  })
  await tick(0)
  replica.replicaMirror.state.generation = 'g2'
  await tick(500)
  expect(waiting).toHaveLength(1)
  waiting[0]!(small)
  await tick(1000)
  await tick(1500)
  expect(waiting).toHaveLength(2)
})

test('engines of other kinds are not asked', async () => {
  sizes = create(new TargetDouble('openai'))
  await tick(0)
  expect(asked).toBe(0)
})

test('an engine that came back with another cache and does not answer yet is asked again soon', async () => {
  answers = [small, undefined, large]
  await tick(0)
  replica.replicaMirror.state.generation = 'h'
  await tick(1_000)
  expect(replica.statedCache).toEqual(small)
  await tick(3_000)
  expect(replica.statedCache).toEqual(large)
  await tick(6_000)
  expect(asked).toBe(3)
})
