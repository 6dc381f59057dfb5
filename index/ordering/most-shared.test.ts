import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SimilarRequest } from './demand-history.ts'
import { mostShared } from './most-shared.ts'

const request = (...blocks: number[]): SimilarRequest => ({ blocks, weight: 0, unplaced: 0 })
const among =
  (requests: readonly SimilarRequest[]) =>
  (rank: number): SimilarRequest[] =>
    requests.filter(({ blocks }) => blocks.includes(rank))

test('it is what the past request holds that holds most, whatever the order of its blocks', () => {
  expect(mostShared([10, 20, 30], among([request(1), request(2, 0), request(1, 0)]))).toBe(40)
  expect(mostShared([10, 20, 30], among([]))).toBe(0)
})

test('it is never more than the context, and no past request holds more', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 6, maxLength: 6 })
  fc.assert(
    fc.property(sizes, fc.array(fc.subarray([0, 1, 2, 3, 4, 5]), { maxLength: 8 }), (own, held) => {
      const past = held.map((blocks) => request(...blocks))
      const most = mostShared(own, among(past))
      const sums = past.map(({ blocks }) => blocks.reduce((sum, block) => sum + own[block]!, 0))
      expect(most).toBe(Math.max(0, ...sums))
      expect(most).toBeLessThanOrEqual(own.reduce((sum, size) => sum + size, 0))
    }),
  )
})
