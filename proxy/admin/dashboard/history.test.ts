import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { History } from './history.ts'
import type { Counts } from './read-counts.ts'

const zero: Counts = {
  requests: 0,
  prompt_tokens: 0,
  cached_tokens: 0,
  reused_tokens: 0,
  recomputed_tokens: 0,
  predicted_cached_tokens: 0,
  baseline_cached_tokens: 0,
  shadow_cached_tokens: 0,
  seen_tokens: 0,
  listed_pages: 0,
  all_pages: 0,
  page_choices: 0,
  page_backtracks: 0,
  overhead_seconds: 0,
  decided: 0,
  first_byte_seconds: 0,
  answered: 0,
  overheadBuckets: [],
  firstByteBuckets: [],
  queue_depth: 0,
  in_flight: 0,
}

let now: number
let requests: number
beforeEach(() => {
  now = 1_000
  requests = 0
})
afterEach(() => {
  vi.useRealTimers()
})

const create = (options: { capacity?: number; intervalMilliseconds?: number } = {}): History =>
  new History({ read: async () => ({ ...zero, requests }), now: () => now, ...options })

test('samples come oldest first, and the last one is how it stands now', async () => {
  const history = create()
  await history.sample()
  now = 2_000
  requests = 5
  const samples = await history.samples()
  expect(samples.map(({ at, requests }) => [at, requests])).toEqual([
    [1_000, 0],
    [2_000, 5],
  ])
  // reading changes nothing
  expect(await history.samples()).toEqual(samples)
})

test('so many samples are kept, the latest', async () => {
  const history = create({ capacity: 3 })
  for (; now < 11_000; now += 1_000) await history.sample()
  expect((await history.samples()).map(({ at }) => at)).toEqual([8_000, 9_000, 10_000, 11_000])
})

test('a clock that jumps to the past leaves time in order', async () => {
  const history = create()
  for (const at of [1_000, 2_000, 9_000, 2_500, 3_000]) {
    now = at
    await history.sample()
  }
  now = 3_500
  expect((await history.samples()).map(({ at }) => at)).toEqual([1_000, 2_000, 2_500, 3_000, 3_500])
})

test('samples are taken at every interval until it is stopped', async () => {
  vi.useFakeTimers()
  const history = create({ intervalMilliseconds: 100 })
  history.start()
  await vi.advanceTimersByTimeAsync(0)
  for (let i = 0; i < 3; i++) {
    now += 100
    await vi.advanceTimersByTimeAsync(100)
  }
  history.close()
  now += 100
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await history.samples()).map(({ at }) => at)).toEqual([1_000, 1_100, 1_200, 1_300, 1_400])
})
