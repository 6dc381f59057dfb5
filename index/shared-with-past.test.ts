import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SimilarRequest } from './demand-history.ts'
import { sharedWithPast } from './shared-with-past.ts'

const request = (...blocks: number[]): SimilarRequest => ({ blocks, weight: 0, unplaced: 0 })
const among =
  (requests: readonly SimilarRequest[]) =>
  (rank: number): SimilarRequest[] =>
    requests.filter(({ blocks }) => blocks.includes(rank))

/** What a request holds of the beginning of an order. */
const beginning = (order: readonly number[], sizes: readonly number[], { blocks }: SimilarRequest): number => {
  const end = order.findIndex((rank) => !blocks.includes(rank))
  return order.slice(0, end < 0 ? order.length : end).reduce((sum, rank) => sum + sizes[rank]!, 0)
}

test('a past request shares the blocks that stand first and that it holds, as many as there are', () => {
  const speakersOf = among([request(1), request(1, 2), request(0, 2)])
  const sizes = [10, 20, 30]
  expect(sharedWithPast([1, 2, 0], { sizes, speakersOf }).sort()).toEqual([20, 50])
  expect(sharedWithPast([0, 1, 2], { sizes, speakersOf })).toEqual([])
})

test('it is what each holds of the beginning, less what it would hold of the order received', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 6, maxLength: 6 })
  const ranks = [0, 1, 2, 3, 4, 5]
  const orders = fc.shuffledSubarray(ranks, { minLength: 6 })
  fc.assert(
    fc.property(orders, sizes, fc.array(fc.subarray(ranks), { maxLength: 8 }), (order, own, held) => {
      const past = held.map((blocks) => request(...blocks))
      const expected = past
        .map((of) => beginning(order, own, of) - beginning(ranks, own, of))
        .filter((more) => more > 0)
      expect(sharedWithPast(order, { sizes: own, speakersOf: among(past) }).sort()).toEqual(expected.sort())
    }),
  )
})
