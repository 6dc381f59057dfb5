import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateMean } from './bootstrap.ts'

const values = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 })

test('an interval holds its mean, lies within the values, and is the same every time', () => {
  fc.assert(
    fc.property(values, (all) => {
      const { mean, low, high, count } = estimateMean(all)!
      expect(count).toBe(all.length)
      expect(low).toBeLessThanOrEqual(high)
      expect(low).toBeGreaterThanOrEqual(Math.min(...all) - 1e-9)
      expect(high).toBeLessThanOrEqual(Math.max(...all) + 1e-9)
      expect(mean).toBeCloseTo(all.reduce((sum, value) => sum + value, 0) / all.length, 10)
      expect(estimateMean(all)).toEqual({ mean, low, high, count })
    }),
    { numRuns: 30 },
  )
})

test('it holds the true mean about as often as it says, and is as wide as theory has it', () => {
  // 0 or 1, each half of the time: the standard error of 100 is 0.05
  const { low, high } = estimateMean(Array.from({ length: 100 }, (_, i) => i % 2))!
  expect(low).toBeCloseTo(0.5 - 1.96 * 0.05, 1)
  expect(high).toBeCloseTo(0.5 + 1.96 * 0.05, 1)
  let held = 0
  let state = 5
  for (let run = 0; run < 100; run++) {
    const sample = Array.from({ length: 60 }, () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    })
    const estimate = estimateMean(sample)!
    if (estimate.low <= 0.5 && estimate.high >= 0.5) held += 1
  }
  expect(held).toBeGreaterThan(85)
})

test('of nothing there is none', () => expect(estimateMean([])).toBeUndefined())
