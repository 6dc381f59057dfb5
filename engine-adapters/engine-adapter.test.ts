import { expect, test } from 'vitest'
import { adapterFor, engineKinds } from './engine-adapter.ts'

test.each([
  [{ prompt_logprobs: 1 }, ['sglang', 'openai']],
  [{ prompt_logprobs: 0 }, ['sglang', 'openai']],
  [{ echo: true, logprobs: 2 }, ['sglang', 'openai']],
  [{ echo: true }, ['vllm', 'sglang', 'openai']],
  [{ prompt_logprobs: null, logprobs: 2 }, ['vllm', 'sglang', 'openai']],
  [{}, ['vllm', 'sglang', 'openai']],
])('for %o these look into their cache: %o', (members, reading) => {
  expect(engineKinds.filter((kind) => adapterFor(kind).readsCache(members))).toEqual(reading)
})
