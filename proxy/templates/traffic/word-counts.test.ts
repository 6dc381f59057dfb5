import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WordCounts } from './word-counts.ts'

test('never counts too few, and exactly where no cells are shared', () => {
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(fc.integer(), { maxLength: 30 }), { maxLength: 60 }), (texts) => {
      const counts = new WordCounts(4_096)
      for (const words of texts) counts.add(words)
      for (const word of new Set(texts.flat())) {
        expect(counts.of(word)).toBeGreaterThanOrEqual(texts.filter((words) => words.includes(word)).length)
      }
    }),
  )
  const counts = new WordCounts(1_024)
  for (let i = 0; i < 9; i++) counts.add(i < 3 ? [1, 2] : [2])
  expect([counts.of(1), counts.of(2), counts.of(3), counts.texts]).toEqual([3, 9, 0, 9])
})

test('what came long ago weighs less, and a rare word stays known', () => {
  const counts = new WordCounts(1_024)
  for (let i = 0; i < 250; i++) counts.add(i === 0 ? [1, 2] : [2])
  expect(counts.texts).toBe(125)
  expect(counts.of(1)).toBe(1)
  expect(counts.of(2)).toBe(125)
})
