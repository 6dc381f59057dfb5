import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context } from '#index/context-block.ts'
import { contextDistance } from './context-distance.ts'
import { pairIndex, pairwiseDistances } from './pairwise-distances.ts'

const contexts = fc.array(
  fc.array(fc.constantFrom(...'abcdefghijkl'), { maxLength: 7 }).map((blocks) => blocks as unknown as Context),
  { maxLength: 12 },
)

test('every pair is as far apart as Equation 1 has it, in either order', () => {
  fc.assert(
    fc.property(contexts, (all) => {
      const distances = pairwiseDistances(all, 0.001)
      expect(distances.length).toBe((all.length * Math.max(0, all.length - 1)) / 2)
      all.forEach((a, i) => {
        all.slice(0, i).forEach((b, j) => {
          expect(distances[pairIndex(i, j)]).toBe(contextDistance(a, b, 0.001))
          expect(pairIndex(i, j)).toBe(pairIndex(j, i))
        })
      })
    }),
  )
})
