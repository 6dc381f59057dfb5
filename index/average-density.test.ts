import { expect, test } from 'vitest'
import { AverageDensity } from './average-density.ts'

test('the first report takes the place of what was assumed, and a few more are the average of all', () => {
  const average = new AverageDensity()
  expect(average.tokensPerCharacter).toBe(0.25)
  average.note(0.5)
  expect(average.tokensPerCharacter).toBe(0.5)
  average.note(0.3)
  average.note(0.4)
  expect(average.tokensPerCharacter).toBeCloseTo(0.4, 10)
})

test('after many reports it follows the last ones', () => {
  const average = new AverageDensity()
  for (let i = 0; i < 1_000; i++) average.note(0.2)
  for (let i = 0; i < 30; i++) average.note(0.6)
  expect(average.tokensPerCharacter).toBeGreaterThan(0.59)
})
