import { expect, test } from 'vitest'
import { expectLinear } from './linear-time.fixture.ts'

function spin(steps: number): number {
  let sum = 0
  for (let i = 0; i < steps; i++) sum += Math.sqrt(i)
  return sum
}

test('linear work passes, and quadratic work does not', () => {
  expectLinear((size) => spin(size * 1_000), 2_000)
  expect(() => expectLinear((size) => spin(size * size), 1_000)).toThrow()
})
