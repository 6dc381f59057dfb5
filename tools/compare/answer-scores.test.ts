import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bestOf, exactMatch, tokenF1 } from './answer-scores.ts'

describe('token F1', () => {
  test.each([
    ['The Eiffel Tower.', 'eiffel tower', 1],
    ['Paris, France', 'Paris', 2 / 3],
    ['a b b c', 'b b', 0.8],
    ['yes', 'no', 0],
    ['', 'anything', 0],
    ['the', 'a', 1],
  ])('of %j and %j is as SQuAD has it', (a, b, score) => expect(tokenF1(a, b)).toBeCloseTo(score, 10))

  test('is symmetric, from 0 to 1, and 1 where answers match', () => {
    const text = fc
      .array(fc.constantFrom('a', 'the', 'red', 'red,', 'Blue', '7'), { maxLength: 6 })
      .map((all) => all.join(' '))
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(tokenF1(a, b)).toBeCloseTo(tokenF1(b, a), 10)
        expect(tokenF1(a, b)).toBeGreaterThanOrEqual(exactMatch(a, b))
        expect(tokenF1(a, b)).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('the best of several right answers counts; of none, nothing', () => {
  expect(bestOf(exactMatch, 'Paris!', ['London', 'paris'])).toBe(1)
  expect(bestOf(tokenF1, 'Paris', [])).toBeUndefined()
})
