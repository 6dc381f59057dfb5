import { expect, test } from 'vitest'
import { intervalOf, noSums, withValue } from './proof.ts'

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
    let mean = noSums
    for (let i = 0; i < count; i++) mean = withValue(mean, 3 + draw(), 1)
    const { low, high } = intervalOf(mean)
    contained += low <= 3 && high >= 3 ? 1 : 0
  }
  expect(contained / 4_000).toBeGreaterThan(0.935)
  expect(contained / 4_000).toBeLessThan(0.965)
})

test("it is Student's for equal weights", () => {
  let mean = noSums
  for (const value of [1, 2, 3, 4, 5, 6, 7, 8]) mean = withValue(mean, value, 0.5)
  const { mean: middle, low, high } = intervalOf(mean)
  expect(middle).toBe(4.5)
  // 2.3646 × 2.4495 / √8
  expect(high - middle).toBeCloseTo(2.0478, 2)
  expect(middle - low).toBeCloseTo(2.0478, 2)
})

test('an observation of little weight changes little, and is worth little', () => {
  let mean = noSums
  for (const value of [1, 1, 1, 2, 2, 2]) mean = withValue(mean, value, 1)
  const before = intervalOf(mean)
  for (let i = 0; i < 3; i++) mean = withValue(mean, 1.5, 0.01)
  expect(intervalOf(mean).high).toBeCloseTo(before.high, 1)
})

test('one observation says nothing, none neither', () => {
  let mean = noSums
  expect(intervalOf(mean).high).toBe(Number.POSITIVE_INFINITY)
  mean = withValue(mean, 1, 1)
  expect(intervalOf(mean)).toEqual({ mean: 1, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY })
})
