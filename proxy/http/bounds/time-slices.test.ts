import { afterEach, expect, test, vi } from 'vitest'
import { inSlices, TimeSlices } from './event-loop.ts'

afterEach(() => vi.restoreAllMocks())

/** Returns how often 60 ms of work yields beside other work that takes `turn` milliseconds in each turn of the loop. */
async function countPasses(turn: number, isPatient = false): Promise<number> {
  let clock = 0
  let isBusy = true
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
  const otherWork = (): void => {
    clock += turn
    if (isBusy) setImmediate(otherWork)
  }
  setImmediate(otherWork)
  const slices = new TimeSlices({ isPatient })
  let passes = 0
  for (let step = 0; step < 6_000; step++) {
    clock += 0.01
    if (!slices.isOver) continue
    await slices.pass()
    passes += 1
  }
  isBusy = false
  return passes
}

test.each([
  ['an idle loop, after a third of a millisecond', 0, 193],
  ['a busy loop, after as long as the others took', 2, 30],
  ['a loop that is held up, after 4 ms', 50, 15],
])('work yields to %s', async (_loop, turn, passes) => {
  expect(Math.abs((await countPasses(turn)) - passes)).toBeLessThanOrEqual(passes / 10 + 2)
})

test('patient work keeps to short slices in a busy loop, and waits before each', async () => {
  expect(Math.abs((await countPasses(2, true)) - 193)).toBeLessThanOrEqual(22)
})

test('a patient task of a few items is done at once, however long they take', async () => {
  const done: number[] = []
  const all = inSlices([1, 2, 3, 4, 5, 6, 7], (item) => {
    for (const begun = performance.now(); performance.now() - begun < 0.5; );
    done.push(item)
  })
  expect(done).toHaveLength(7)
  await all
})
