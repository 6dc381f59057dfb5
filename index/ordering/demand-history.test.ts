import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DemandHistory, HistoryWindow } from './demand-history.ts'

const createHistory = (window = new HistoryWindow(1_000)): DemandHistory => new DemandHistory(window, () => {})

/** Returns the latest requests that fit into a window of `capacity` and at most `most` requests. */
function remember(requests: readonly (readonly number[])[], capacity: number, most: number): (readonly number[])[] {
  let size = 0
  const forgotten = requests.findLastIndex((blocks, place) => {
    size += 1 + blocks.length
    return size > capacity || requests.length - place > most
  })
  return requests.slice(forgotten + 1)
}

test('requests speak for their blocks until they leave the window', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.nat(6), { maxLength: 4 }), { maxLength: 60 }),
      fc.nat(40),
      fc.integer({ min: 1, max: 60 }),
      (requests, capacity, most) => {
        const forgotten: (readonly number[])[] = []
        const history = new DemandHistory(new HistoryWindow(capacity, most), (blocks) => forgotten.push(blocks))
        for (const blocks of requests) history.record(blocks)
        const remembered = remember(requests, capacity, most)
        expect(forgotten).toEqual(requests.slice(0, requests.length - remembered.length))
        expect(history.requests).toBe(remembered.length)
        for (let block = 0; block <= 6; block++) {
          const holders = remembered.filter((blocks) => blocks.includes(block))
          expect(history.speakersOf(block).map(({ blocks }) => blocks)).toEqual(holders)
        }
      },
    ),
  )
})

test('histories that share a window remember so many together', () => {
  const window = new HistoryWindow(6)
  const [one, other] = [createHistory(window), createHistory(window)]
  for (let i = 0; i < 2; i++) one.record([1])
  for (let i = 0; i < 2; i++) other.record([1])
  expect([one.requests, other.requests]).toEqual([1, 2])
})

test('of a hot block the latest sixteen speak', () => {
  const history = createHistory()
  for (let i = 0; i < 100; i++) history.record([0, i + 1])
  expect(history.speakersOf(0).map(({ blocks }) => blocks[1])).toEqual(Array.from({ length: 16 }, (_, i) => 85 + i))
})

test('who shares more, and rarer, blocks has more to say', () => {
  const history = createHistory()
  history.record([0, 1, 2])
  history.record([0, 3])
  history.record([4, 5])
  for (let i = 0; i < 20; i++) history.record([0, 10 + i])
  const speakers = history.weigh([0, 1, 2, 3, -1])
  const weightOf = (blocks: number[]): number =>
    speakers.flat().find((request) => String(request.blocks) === String(blocks))?.weight ?? 0
  expect(weightOf([0, 1, 2])).toBeGreaterThan(weightOf([0, 3]))
  expect(weightOf([0, 3])).toBeGreaterThan(weightOf([0, 29]))
  expect(weightOf([4, 5])).toBe(0)
  expect(speakers[4]).toEqual([])
})

test('a window keeps no history alive that nobody else holds, and still forgets in order', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const window = new HistoryWindow(20)
  const lost = Array.from({ length: 5 }, () => {
    const history = createHistory(window)
    history.record([1])
    return new WeakRef(history)
  })
  for (let i = 0; i < 3; i++) {
    await pause(10)
    collect()
  }
  // the last may still be on the stack
  expect(lost.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1)
  const other = createHistory(window)
  for (let i = 0; i < 20; i++) other.record([1])
  expect(other.requests).toBe(10)
})
