import { beforeEach, expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { createMirror, promptOf } from '#index/mirror/sent-prompts.fixture.ts'
import type { FollowedEvents } from '../reports/followed-events.ts'
import { ReplicaCache } from './replica-cache.ts'

const a = 'a' as RequestId
const prompt = promptOf(['x', 'y'])
const asked = [{ tokens: Uint32Array.from({ length: 300 }, (_, i) => i), scope: '', salt: undefined }]

let cache: ReplicaCache
let told: string[]
let heldByEvents: number

beforeEach(() => {
  cache = new ReplicaCache(createMirror())
  told = []
  heldByEvents = 0
  const note =
    (what: string) =>
    (requests: readonly RequestId[]): void => {
      told.push(`${what} ${requests.join(' ')}`)
    }
  const events: FollowedEvents = {
    sent: note('sent'),
    learn: note('learn'),
    ended: note('ended'),
    failed: note('failed'),
    reused: () => {},
    countHeld: () => ({ device: heldByEvents, host: 32, remote: 16 }),
    blockSize: 16,
    close: async () => {},
  }
  cache.events = events
  cache.sent(a, prompt)
  cache.began([a], [prompt])
  cache.learned([a], asked, 16)
})

test('what happens to a request is known to all models of the cache', () => {
  expect(cache.mirror.has(a)).toBe(true)
  expect([...cache.tokens.known()]).toEqual([a])
  cache.ended([a])
  expect(told).toEqual(['sent a', 'learn a', 'ended a'])
})

test('a prompt is held to its end if all its whole pages are', () => {
  cache = new ReplicaCache(createMirror())
  cache.sent(a, promptOf(['x', 'y'], 40))
  cache.used(a, 340, 0)
  for (const [pageTokens, cachedTokens, cachedLength] of [
    [48, 288, 288],
    [64, 320, 340],
  ] as const) {
    cache.tick({ capacityTokens: undefined, pageTokens, evictsInWhole: false })
    cache.reported('stored', a, cachedTokens, undefined)
    expect(cache.mirror.heldOf(a)?.cachedLength).toBe(cachedLength)
  }
})

test('a report that comes before the count of a prompt is read with it once it comes', () => {
  cache.reported('stored', a, 200, undefined)
  cache.used(a, 300, 0)
  expect(cache.mirror.heldOf(a)?.cachedLength).toBe(200)
})

test('a request that no engine has run is known to none of them', () => {
  cache.failed([a])
  cache.ended([a])
  expect(cache.mirror.has(a)).toBe(false)
  expect([...cache.tokens.known()]).toEqual([])
  expect(cache.predict(a)).toBeUndefined()
  expect(told).toContain('failed a')
})

test('a request that waits in vain fails without having begun', () => {
  const waiting = 'b' as RequestId
  cache.sent(waiting, promptOf(['z']))
  cache.failed([waiting])
  cache.ended([waiting])
  expect(cache.mirror.has(waiting)).toBe(false)
  expect(cache.mirror.has(a)).toBe(true)
})

test('predicts what the engine’s events tell of, where that is more than its reports do', () => {
  expect(cache.predict(a)).toEqual({ device: 0, host: 32, remote: 16 })
  heldByEvents = 64
  expect(cache.predict(a)).toEqual({ device: 64, host: 32, remote: 16 })
  const b = 'b' as RequestId
  cache.began([b], [prompt])
  cache.learned([b], asked, 16)
  expect(cache.predict(b)).toEqual({ device: 288, host: 0, remote: 0 })
  heldByEvents = 240
  expect(cache.predict(b)).toEqual({ device: 240, host: 32, remote: 16 })
})

test('while a full report is read, requests between its slices find the models agreeing', async () => {
  const own = new ReplicaCache(createMirror())
  const ids = Array.from({ length: 8_000 }, (_, i) => `r-${i}` as RequestId)
  for (const id of ids) {
    own.sent(id, promptOf([id]))
    own.began([id], [promptOf([id])])
    own.learned([id], [{ tokens: Uint32Array.of(ids.indexOf(id), 1, 2), scope: '', salt: undefined }], 1)
    own.ended([id])
    own.reported('stored', id, 2, undefined)
  }
  const disagreeing = (): RequestId[] =>
    ids.filter((id) => (own.mirror.heldOf(id) === undefined) !== !(own.tokens.reportedOf(id) ?? 0))
  expect(disagreeing()).toEqual([])
  let isOver = false
  const replaced = own.replaced([]).then(() => {
    isOver = true
  })
  let looks = 0
  while (!isOver) {
    expect(disagreeing()).toEqual([])
    looks += 1
    await new Promise(setImmediate)
  }
  await replaced
  expect(looks).toBeGreaterThan(2)
  expect(ids.some((id) => own.mirror.heldOf(id))).toBe(false)
})

test.each([16, 32, 64, 512])(
  'what an engine that falls silent has evicted is assumed, whatever its pages: %i tokens',
  (pageTokens) => {
    let now = 0
    const reports = { modeAt: () => 'degraded' as const, isByCallbacks: true }
    cache = new ReplicaCache(createMirror(), reports, () => now)
    const known = { capacityTokens: 6_000, pageTokens, evictsInWhole: false }
    for (let i = 0; i < 200; i++) {
      const request = `r-${i}` as RequestId
      cache.tick(known)
      cache.sent(request, promptOf([`x${i % 7}`, `y${i}`], 400 + 37 * (i % 11)))
      cache.used(request, 800 + i, 0)
      if (i % 3 === 0) cache.reported('stored', request, 800, undefined)
      cache.ended([request])
      now += 1_000
    }
    cache.tick(known)
    expect(cache.mirror.heldTokens).toBeLessThanOrEqual(6_000 + 2_000)
  },
)
