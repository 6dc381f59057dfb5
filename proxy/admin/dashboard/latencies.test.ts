import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bucket, latenciesBetween } from './read-counts.ts'

const bounds = [0.001, 0.01, 0.1, Number.POSITIVE_INFINITY]
const bucketsOf = (seconds: readonly number[]): Bucket[] =>
  bounds.map((upTo) => ({ upTo, count: seconds.filter((own) => own <= upTo).length }))

test('percentiles lie in the bucket that holds them, whatever came before', () => {
  const times = fc.array(fc.double({ min: 0.0001, max: 0.099, noNaN: true }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.0001, max: 5, noNaN: true })), times, (before, during) => {
      const { p50, p99 } = latenciesBetween(bucketsOf(before), bucketsOf([...before, ...during]))!
      const sorted = [...during].sort((a, b) => a - b)
      for (const [share, told] of [
        [0.5, p50],
        [0.99, p99],
      ] as const) {
        const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
        const above = bounds.findIndex((upTo) => exact <= upTo)
        expect(told).toBeGreaterThanOrEqual(1000 * (bounds[above - 1] ?? 0))
        expect(told).toBeLessThanOrEqual(1000 * bounds[above]! * (1 + 1e-9))
      }
      expect(p99).toBeGreaterThanOrEqual(p50)
    }),
  )
})

test('nothing is told where nothing was measured, and no more than the last bound', () => {
  const none = bucketsOf([])
  expect(latenciesBetween(none, none)).toBeUndefined()
  expect(latenciesBetween([], [])).toBeUndefined()
  expect(latenciesBetween(none, bucketsOf([3, 4]))).toEqual({ p50: 100, p99: 100 })
})
