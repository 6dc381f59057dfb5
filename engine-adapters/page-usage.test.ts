import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PageUsage, readPageUsage, sumOfPages } from './read-usage.ts'

const toDetails = ({ listed, all, choices, backtracks }: PageUsage): Record<string, number> => ({
  listed_pages: listed,
  all_pages: all,
  page_choices: choices,
  page_backtracks: backtracks,
})

const usages: fc.Arbitrary<PageUsage> = fc
  .tuple(fc.nat(), fc.nat(), fc.nat(1000), fc.nat(1000))
  .map(([listed, more, backtracks, others]) => ({
    listed,
    all: listed + more,
    choices: backtracks + others,
    backtracks,
  }))

test('what is written is read, whatever stands beside it, and sums of it too', () => {
  fc.assert(
    fc.property(usages, usages, fc.object(), (one, other, beside) => {
      expect(readPageUsage({ ...beside, ...toDetails(one) })).toEqual(one)
      const sum = sumOfPages(one, other)
      expect(readPageUsage({ ...toDetails(sum) })).toEqual(sum)
    }),
  )
})

test('what is not told in whole, or cannot be, is not known', () => {
  const whole = { listed_pages: 3, all_pages: 9, page_choices: 2, page_backtracks: 1 }
  for (const wrong of [undefined, null, '3', -1, 0.5, Number.NaN]) {
    for (const name of Object.keys(whole)) expect(readPageUsage({ ...whole, [name]: wrong })).toBeUndefined()
  }
  expect(readPageUsage({ ...whole, listed_pages: 10 })).toBeUndefined()
  expect(readPageUsage({ ...whole, page_backtracks: 3 })).toBeUndefined()
  expect(readPageUsage({})).toBeUndefined()
})
