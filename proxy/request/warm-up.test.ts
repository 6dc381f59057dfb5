import { expect, test } from 'vitest'
import { warmUp } from './warm-up.ts'

test('prompts with blocks of several forms are laid out', async () => {
  expect(await warmUp()).toBeGreaterThan(10)
})
