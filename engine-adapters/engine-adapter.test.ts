import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { adapterFor } from './adapter-for.ts'
import { engineKinds } from './engine-adapter.ts'

test.each([
  [{ prompt_logprobs: 1 }, ['vllm']],
  [{ prompt_logprobs: 0 }, ['vllm']],
  [{ echo: true, logprobs: 2 }, ['vllm']],
  [{ echo: true }, []],
  [{ prompt_logprobs: null, logprobs: 2 }, []],
  [{}, []],
])('for %o these do not look into their cache: %o', (members, passing) => {
  expect(engineKinds.filter((kind) => !adapterFor(kind).readsCache(members))).toEqual(passing)
})

const id = 'r' as RequestId

test('SGLang numbers all prompts of a list, also of a list of one, and leaves a single prompt its name', () => {
  expect(adapterFor('sglang').promptIds(id, { count: 3, isList: true })).toEqual(['r_0', 'r_1', 'r_2'])
  expect(adapterFor('sglang').promptIds(id, { count: 1, isList: true })).toEqual(['r_0'])
  expect(adapterFor('sglang').promptIds(id, { count: 1, isList: false })).toEqual(['r'])
})

test("SGLang's clients may name each prompt of a list", () => {
  const named = (rid: unknown): string[] => adapterFor('sglang').promptIds(id, { count: 2, isList: true, rid })
  expect(named(['a', 'b'])).toEqual(['a', 'b'])
  for (const rid of ['a', ['a'], ['a', 'a'], ['a', 1], ['a', 'b', 'c'], null])
    expect(named(rid)).toEqual(['r_0', 'r_1'])
  expect(adapterFor('vllm').promptIds(id, { count: 2, isList: true, rid: ['a', 'b'] })).toEqual(['r', 'r-1'])
})

test.each(['vllm', 'openai'] as const)('of %s the first has the request’s own name, in a list too', (kind) => {
  expect(adapterFor(kind).promptIds(id, { count: 3, isList: true })).toEqual(['r', 'r-1', 'r-2'])
  expect(adapterFor(kind).promptIds(id, { count: 1, isList: true })).toEqual(['r'])
  expect(adapterFor(kind).promptIds(id, { count: 1, isList: false })).toEqual(['r'])
  expect(adapterFor(kind).promptIds(id, { count: 0, isList: false })).toEqual([])
})
