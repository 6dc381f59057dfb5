import { expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RequestId } from '#index/context-block.ts'
import { AnswerName } from './answer-name.ts'

function namesIn(kind: EngineKind, api: PromptApi, ...chunks: string[]): string[] {
  const names: string[] = []
  const name = new AnswerName(adapterFor(kind), api, 'r-1' as RequestId, (request, theirs) => {
    names.push(`${request} is ${theirs}`)
  })
  for (const chunk of chunks) name.onChunk(Buffer.from(chunk))
  return names
}

// starts of answers as vLLM 0.32.0 and SGLang 0.5.23 write them
const vllmResponse = '{"id":"resp_80449259f2d6425d","created_at":1795285788,"incomplete_details":null'
const vllmStream =
  'event: response.created\ndata: {"response":{"id":"resp_86205b73efd14f24","created_at":1795285790,"incomplete_details":null'
const sglangStream =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_3b2e","object":"response"'

test('vLLM runs a response as the first of its turns', () => {
  expect(namesIn('vllm', 'responses', vllmResponse)).toEqual(['r-1 is resp_80449259f2d6425d_0'])
  expect(namesIn('vllm', 'responses', vllmStream)).toEqual(['r-1 is resp_86205b73efd14f24_0'])
})

test('SGLang runs a response, and the first of several samples, under the id of the answer', () => {
  expect(namesIn('sglang', 'responses', '{"id": "resp_3b2e", "object": "response"')).toEqual(['r-1 is resp_3b2e'])
  expect(namesIn('sglang', 'responses', sglangStream)).toEqual(['r-1 is resp_3b2e'])
  expect(namesIn('sglang', 'responses', 'data: {"sequence_number":0,"response":{"id":"resp_3b2e"')).toHaveLength(1)
  const sample = '{"id":"0123456789abcdef0123456789abcdef","object":"chat.completion","created":1'
  expect(namesIn('sglang', 'chat_completions', sample)).toEqual(['r-1 is 0123456789abcdef0123456789abcdef'])
  expect(namesIn('sglang', 'chat_completions', `data: ${sample}`)).toHaveLength(1)
})

test('an id that comes in pieces is read whole, and once', () => {
  expect(namesIn('vllm', 'responses', ...vllmStream, ...vllmStream)).toEqual(['r-1 is resp_86205b73efd14f24_0'])
})

test.each<[EngineKind, PromptApi, string]>([
  ['vllm', 'chat_completions', '{"id":"chatcmpl-r-1","object":"chat.completion"'],
  ['openai', 'responses', vllmResponse],
  ['sglang', 'chat_completions', '{"id":"r-1","object":"chat.completion"'],
  ['sglang', 'messages', '{"id":"msg_5","type":"message"'],
  ['sglang', 'generate', '{"text":"{\\"id\\":\\"resp_1\\"","meta_info":{"id":"0f"}}'],
  ['vllm', 'responses', `{"object":"${'x'.repeat(3000)}","id":"resp_1"`],
  ['vllm', 'responses', 'not json'],
])('%s and %s: no other name is learned from %j', (kind, api, answer) => {
  expect(namesIn(kind, api, answer)).toEqual([])
})
