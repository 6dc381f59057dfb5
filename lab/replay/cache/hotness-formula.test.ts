import { expect, test } from 'vitest'
import { admissionHotness, evictionPriority, parseFormula } from './hotness-formula.ts'

const factors = { clock: 9, frequency: 5, length: 4 }

test.each([
  [evictionPriority, 5 + 9 / 4],
  [admissionHotness, 5 * 9],
  ['clock + freq / length', 9 + 5 / 4],
  ['frequency/length+clock', 5 / 4 + 9],
  ['clock / length / frequency', 9 / 4 / 5],
  ['clock * frequency / length', (9 * 5) / 4],
  ['clock + frequency + length', 18],
  ['clock / length * frequency', (9 / 4) * 5],
])('%s is computed with + last', (text, value) => {
  expect(parseFormula(text)(factors)).toBeCloseTo(value, 12)
})

test('what is divided by counts as one at least', () => {
  expect(parseFormula('frequency / clock')({ ...factors, clock: 0 })).toBe(5)
})

test.each([
  '',
  'clock',
  'clock +',
  'clock - frequency',
  'depth * clock',
  'clock + frequency * length / clock',
  '2 * clock',
])('%j is refused, with what a formula is', (text) => {
  expect(() => parseFormula(text)).toThrow(/is no formula: it is 'x op y' or 'x op y op z'/)
})
