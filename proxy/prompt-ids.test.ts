import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { isPromptList, promptIds } from './prompt-ids.ts'

const id = 'r' as RequestId

test('SGLang numbers all prompts of a list, also of a list of one, and leaves a single prompt its name', () => {
  expect(promptIds('sglang', id, 3, true)).toEqual(['r_0', 'r_1', 'r_2'])
  expect(promptIds('sglang', id, 1, true)).toEqual(['r_0'])
  expect(promptIds('sglang', id, 1, false)).toEqual(['r'])
})

test.each(['vllm', 'openai'] as const)('of %s the first has the request’s own name, in a list too', (kind) => {
  expect(promptIds(kind, id, 3, true)).toEqual(['r', 'r-1', 'r-2'])
  expect(promptIds(kind, id, 1, true)).toEqual(['r'])
  expect(promptIds(kind, id, 1, false)).toEqual(['r'])
  expect(promptIds(kind, id, 0, false)).toEqual([])
})

test('lists are where an API takes them, and nowhere else', () => {
  expect(isPromptList('completions', { prompt: ['a'] })).toBe(true)
  expect(isPromptList('completions', { prompt: 'a', text: ['a'] })).toBe(false)
  expect(isPromptList('generate', { text: ['a', 'b'] })).toBe(true)
  expect(isPromptList('generate', { text: 'a', prompt: ['b'] })).toBe(false)
  expect(isPromptList('chat_completions', { prompt: ['a'], text: ['a'] })).toBe(false)
})
