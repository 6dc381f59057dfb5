import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PrefillRate } from './prefill-rate.ts'

test('finds what a token takes, whatever every request costs besides', () => {
  const rates = fc.record({ perToken: fc.double({ min: 1e-6, max: 1e-2 }), fixed: fc.double({ min: 0, max: 1 }) })
  const sizes = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 8, maxLength: 60 })
  fc.assert(
    fc.property(
      rates.filter(({ perToken, fixed }) => Object.values([perToken, fixed]).every(Number.isFinite)),
      sizes,
      ({ perToken, fixed }, all) => {
        fc.pre(Math.max(...all) - Math.min(...all) > 1_000)
        const rate = new PrefillRate()
        for (const tokens of all) rate.note(tokens, fixed + tokens * perToken)
        expect(rate.secondsPerToken! / perToken).toBeCloseTo(1, 2)
      },
    ),
  )
})

test('says nothing of a few requests, of equal ones, or where more tokens take no longer', () => {
  const rate = new PrefillRate()
  for (let i = 0; i < 7; i++) rate.note(1_000 * i, i)
  expect(rate.secondsPerToken).toBeUndefined()
  const equal = new PrefillRate()
  for (let i = 0; i < 20; i++) equal.note(500, 1)
  expect(equal.secondsPerToken).toBeUndefined()
  const falling = new PrefillRate()
  for (let i = 0; i < 20; i++) falling.note(500 * i, 20 - i)
  expect(falling.secondsPerToken).toBeUndefined()
})

test('follows an engine that has become slower', () => {
  const rate = new PrefillRate()
  for (let i = 0; i < 500; i++) rate.note(100 * (i % 20), 0.001 * (i % 20))
  for (let i = 0; i < 1_000; i++) rate.note(100 * (i % 20), 0.01 * (i % 20))
  expect(rate.secondsPerToken! / 1e-4).toBeCloseTo(1, 2)
})
