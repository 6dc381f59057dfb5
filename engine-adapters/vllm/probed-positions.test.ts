import fc from 'fast-check'
import { expect, test } from 'vitest'
import { probedPositions } from './score-answer.ts'

const texts = fc.array(fc.constantFrom('word', '\n', '.\n', 'ĊĊ'), { minLength: 1, maxLength: 200 })

test('positions are places of the answer, rise, begin with its first token, and are at most sixteen', () => {
  fc.assert(
    fc.property(texts, (tokens) => {
      const positions = probedPositions(tokens)
      expect(positions[0]).toBe(0)
      expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b))
      expect(positions.at(-1)!).toBeLessThan(tokens.length)
      expect(positions).toHaveLength(Math.min(16, tokens.length))
    }),
  )
})

test('the beginnings of lines are among them, up to half of all', () => {
  const lines = (count: number, length: number): string[] =>
    Array.from({ length: count }, () => [...Array.from({ length }, () => 'word'), '.\n']).flat()
  expect(probedPositions(lines(5, 20))).toEqual(expect.arrayContaining([0, 21, 42, 63, 84]))
  const begin = (position: number): boolean => position > 0 && position % 21 === 0
  expect(probedPositions(lines(40, 20)).filter(begin).length).toBeGreaterThanOrEqual(8)
})
