import { expect, test } from 'vitest'
import { WeightedMean } from './proof.ts'

/** Numbers that look random, the same each time. */
function createRandom(): () => number {
  let state = 12_345
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

test.each([5, 8, 30])('the interval of %i observations contains the mean in 95 of 100 cases', (count) => {
  const random = createRandom()
  const draw = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  let contained = 0
  for (let run = 0; run < 4_000; run++) {
    const mean = new WeightedMean()
    for (let i = 0; i < count; i++) mean.add(3 + draw(), 1)
    const { low, high } = mean.interval()
    contained += low <= 3 && high >= 3 ? 1 : 0
  }
  expect(contained / 4_000).toBeGreaterThan(0.935)
  expect(contained / 4_000).toBeLessThan(0.965)
})

test("it is Student's for equal weights", () => {
  const mean = new WeightedMean()
  for (const value of [1, 2, 3, 4, 5, 6, 7, 8]) mean.add(value, 0.5)
  const { mean: middle, low, high } = mean.interval()
  expect(middle).toBe(4.5)
  // 2.3646 × 2.4495 / √8
  expect(high - middle).toBeCloseTo(2.0478, 2)
  expect(middle - low).toBeCloseTo(2.0478, 2)
})

test('an observation of little weight changes little, and is worth little', () => {
  const mean = new WeightedMean()
  for (const value of [1, 1, 1, 2, 2, 2]) mean.add(value, 1)
  const before = mean.interval()
  for (let i = 0; i < 3; i++) mean.add(1.5, 0.01)
  expect(mean.interval().high).toBeCloseTo(before.high, 1)
})

test('one observation says nothing, none neither', () => {
  const mean = new WeightedMean()
  expect(mean.interval().high).toBe(Number.POSITIVE_INFINITY)
  mean.add(1, 1)
  expect(mean.interval()).toEqual({ mean: 1, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY })
})
