import { expect, test } from 'vitest'
import { isPromptList } from './request-ids.ts'

test('lists are where an API takes them, and nowhere else', () => {
  expect(isPromptList('completions', { prompt: ['a'] })).toBe(true)
  expect(isPromptList('completions', { prompt: 'a', text: ['a'] })).toBe(false)
  expect(isPromptList('generate', { text: ['a', 'b'] })).toBe(true)
  expect(isPromptList('generate', { text: 'a', prompt: ['b'] })).toBe(false)
  expect(isPromptList('chat_completions', { prompt: ['a'], text: ['a'] })).toBe(false)
})
