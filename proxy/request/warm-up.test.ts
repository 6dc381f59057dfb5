import { expect, test } from 'vitest'
import { warmUp } from './warm-up.ts'

test('prompts with blocks of several forms are laid out, with a turn for others before each', async () => {
  let turns = 0
  const found = await warmUp(async () => {
    turns += 1
  })
  expect(turns).toBe(63)
  expect(found).toBeGreaterThan(25)
})
