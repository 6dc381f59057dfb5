import { expect, test } from 'vitest'
import { OfferedTexts } from './learner-thread.ts'

test('backs off from texts that begin alike, but not from others, and not once something was learnt', () => {
  const offered = new OfferedTexts()
  const countDue = (lead: string, times: number): number =>
    Array.from({ length: times }, (_, i) => offered.isDue('user', `${lead} ${i}`)).filter(Boolean).length
  expect(countDue('You are a bot.', 64)).toBe(64)
  expect(countDue('You are a bot.', 448)).toBe(56)
  expect(countDue('You are a bot.', 6_400)).toBe(100)
  expect(countDue('Other words.', 10)).toBe(10)
  offered.forget()
  expect(countDue('You are a bot.', 64)).toBe(64)
})
