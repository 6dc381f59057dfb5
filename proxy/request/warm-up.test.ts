import { expect, test } from 'vitest'
import { warmUp } from './warm-up.ts'

test('prompts with blocks of several forms are laid out', () => {
  expect(warmUp()).toBeGreaterThan(10)
})
