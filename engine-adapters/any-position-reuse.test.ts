import { expect, test } from 'vitest'
import { grantedWish, recomputedShare } from './any-position-reuse.ts'

const reuse = { ratio: 0.15, min_ratio: 0.1, max_ratio: 0.5 }

test('an engine computes its own share again, or the one that is wished for, as far as it grants it', () => {
  expect(recomputedShare(reuse, undefined)).toBe(0.15)
  expect(recomputedShare(reuse, 0.3)).toBe(0.3)
  expect(recomputedShare(reuse, 0)).toBe(0.1)
  expect(recomputedShare(reuse, 0.9)).toBe(0.5)
  expect(recomputedShare(reuse, 'off')).toBeUndefined()
  expect(recomputedShare(undefined, 0.3)).toBeUndefined()
})

test('what an engine is told is what it grants', () => {
  const granted = (['off', 0, 0.3, 1] as const).map((wish) => grantedWish(reuse, wish))
  expect(granted).toEqual(['off', 0.1, 0.3, 0.5])
})
