import { expect, test } from 'vitest'
import { readExplicitContext } from './explicit-context.ts'

const optionsOf = (options: object): unknown => readExplicitContext({ options })?.options

test('options are read as the header is', () => {
  const options = { reorder: 'off', Citations: 'keep', reuse: '0.3', pages: '.25' }
  expect(optionsOf(options)).toEqual({ reorder: false, citations: false, reuse: 0.3, pages: 0.25 })
})

test('shares may be numbers, and what is on or off a boolean', () => {
  expect(optionsOf({ reuse: 0.3, pages: 1e-7 })).toEqual({ reuse: 0.3, pages: 1e-7 })
  expect(optionsOf({ reorder: false, dedup: true, reuse: false })).toEqual({
    reorder: false,
    dedup: true,
    reuse: 'off',
  })
})

test.each([
  { reuse: 1.5 },
  { reuse: -0.1 },
  { reuse: true },
  { pages: false },
  { citations: true },
  { reorder: 0 },
  { reuse: '0.3,dedup=off' },
  { 'dedup=off,reuse': '0.3' },
  { unknown: 1 },
])('%j is no option', (options) => {
  expect(() => optionsOf(options)).toThrow(/is not an option of reprise; known are/)
})

test('one option is given once, whatever the case', () => {
  expect(() => optionsOf({ reuse: 'off', Reuse: 0.2 })).toThrow(/'reuse' is given twice/)
})

test.each([null, {}, [0.3]])('%j is no value', (value) => {
  expect(() => optionsOf({ reuse: value })).toThrow("'reprise/options/reuse' must be string,number,boolean.")
})
