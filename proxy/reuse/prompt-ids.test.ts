import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { isPromptList, promptIds } from './prompt-ids.ts'

const id = 'r' as RequestId

test('SGLang numbers all prompts of a list, also of a list of one, and leaves a single prompt its name', () => {
  expect(promptIds('sglang', id, { count: 3, isList: true })).toEqual(['r_0', 'r_1', 'r_2'])
  expect(promptIds('sglang', id, { count: 1, isList: true })).toEqual(['r_0'])
  expect(promptIds('sglang', id, { count: 1, isList: false })).toEqual(['r'])
})

test("SGLang's clients may name each prompt of a list", () => {
  const named = (rid: unknown): string[] => promptIds('sglang', id, { count: 2, isList: true, rid })
  expect(named(['a', 'b'])).toEqual(['a', 'b'])
  for (const rid of ['a', ['a'], ['a', 'a'], ['a', 1], ['a', 'b', 'c'], null])
    expect(named(rid)).toEqual(['r_0', 'r_1'])
  expect(promptIds('vllm', id, { count: 2, isList: true, rid: ['a', 'b'] })).toEqual(['r', 'r-1'])
})

test.each(['vllm', 'openai'] as const)('of %s the first has the request’s own name, in a list too', (kind) => {
  expect(promptIds(kind, id, { count: 3, isList: true })).toEqual(['r', 'r-1', 'r-2'])
  expect(promptIds(kind, id, { count: 1, isList: true })).toEqual(['r'])
  expect(promptIds(kind, id, { count: 1, isList: false })).toEqual(['r'])
  expect(promptIds(kind, id, { count: 0, isList: false })).toEqual([])
})

test('lists are where an API takes them, and nowhere else', () => {
  expect(isPromptList('completions', { prompt: ['a'] })).toBe(true)
  expect(isPromptList('completions', { prompt: 'a', text: ['a'] })).toBe(false)
  expect(isPromptList('generate', { text: ['a', 'b'] })).toBe(true)
  expect(isPromptList('generate', { text: 'a', prompt: ['b'] })).toBe(false)
  expect(isPromptList('chat_completions', { prompt: ['a'], text: ['a'] })).toBe(false)
})
