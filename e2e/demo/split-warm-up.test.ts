import { expect, test } from 'vitest'
import { splitWarmUp } from './load-workload.ts'

test('the first third of the requests fills the caches, or as many as are named', () => {
  expect(splitWarmUp([1, 2, 3, 4])).toEqual({ warmUp: [1], measured: [2, 3, 4] })
  expect(splitWarmUp([1, 2, 3, 4], 3)).toEqual({ warmUp: [1, 2, 3], measured: [4] })
  expect(splitWarmUp([1])).toEqual({ warmUp: [], measured: [1] })
  expect(() => splitWarmUp([1, 2], 2)).toThrow('--warm-up 2 leaves none of 2 requests to measure')
})
