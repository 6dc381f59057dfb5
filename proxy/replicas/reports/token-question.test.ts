import { describe, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { readTokens, tokenQuestions } from './token-question.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const questionsFor = (kind: EngineKind, api: PromptApi, path: string, body: unknown) =>
  tokenQuestions(adapterFor(kind), { api, path, body: Buffer.from(JSON.stringify(body)) })
const ways = (...asked: Parameters<typeof questionsFor>): [string, unknown][] | undefined =>
  questionsFor(...asked)?.ways.map(({ path, body }) => [path, JSON.parse(body)])

describe('vLLM', () => {
  test('is asked to render a chat, or to tokenise it where it does not', () => {
    const body = { model: 'm', messages, stream: true, stream_options: {}, temperature: 1, cache_salt: 's', tools: [] }
    const bare = { model: 'm', messages, tools: [] }
    expect(ways('vllm', 'chat_completions', '/v1/chat/completions?x=1', body)).toEqual([
      ['/v1/chat/completions/render', bare],
      ['/tokenize', bare],
    ])
    expect(questionsFor('vllm', 'chat_completions', '/v1/chat/completions', body)!.salt).toBe('s')
  })

  test.each([
    ['documents', { messages, documents: [{ text: 'x' }] }],
    ['images', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }],
    ['a reasoning effort', { messages, reasoning_effort: 'low' }],
  ])('is not asked to tokenise a chat with %s: its tokenizer would make another prompt', (_title, body) => {
    expect(ways('vllm', 'chat_completions', '/v1/chat/completions', body)!.map(([path]) => path)).toEqual([
      '/v1/chat/completions/render',
    ])
  })

  test('tokenises a completion of one prompt', () => {
    const asked = ways('vllm', 'completions', '/v1/completions', {
      model: 'm',
      prompt: 'x',
      add_special_tokens: false,
    })!
    expect(asked[1]).toEqual(['/tokenize', { model: 'm', prompt: 'x', add_special_tokens: false }])
    expect(ways('vllm', 'completions', '/v1/completions', { prompt: ['x', 'y'] })).toHaveLength(1)
  })
})

describe('SGLang', () => {
  test.each([
    ['chat_completions', { model: 'm', messages, rid: 'r', max_tokens: 3 }, { model: 'm', messages }],
    ['completions', { prompt: ['x', 'y'], rid: 'r' }, { prompt: ['x', 'y'] }],
    ['generate', { text: 'x', sampling_params: {} }, { prompt: 'x' }],
  ] as const)('tokenises %s', (api, body, asked) => {
    expect(ways('sglang', api, '/any', body)).toEqual([['/tokenize', asked]])
  })

  test.each(['responses', 'messages'] as const)('cannot be asked about %s', (api) => {
    expect(ways('sglang', api, '/any', { messages })).toBeUndefined()
  })
})

test('prompts are the same whatever is sampled, and others when their words are', () => {
  const keyOf = (body: unknown): string => questionsFor('sglang', 'chat_completions', '/any', body)!.key
  expect(keyOf({ messages, temperature: 1, rid: 'a' })).toBe(keyOf({ messages, max_tokens: 7, rid: 'b' }))
  expect(keyOf({ messages, chat_template_kwargs: { thinking: true } })).not.toBe(keyOf({ messages }))
})

test.each(['', '[]', 'null', '{"messages"', '7'])('there is nothing to ask about %o', (text) => {
  expect(
    tokenQuestions(adapterFor('vllm'), { api: 'chat_completions', path: '/', body: Buffer.from(text) })?.ways ?? [],
  ).toEqual([])
})

test.each([
  ['a rendered chat', { token_ids: [1, 2], features: null }, [[1, 2]]],
  ['rendered completions', [{ token_ids: [1] }, { token_ids: [2, 3] }], [[1], [2, 3]]],
  ['a tokenised prompt', { count: 2, tokens: [1, 2] }, [[1, 2]]],
  ['several tokenised prompts', { count: [1, 1], tokens: [[1], [2]] }, [[1], [2]]],
  ['a prompt with images', { token_ids: [1], features: { mm_hashes: {} } }, undefined],
  ['an error', { error: { message: 'no' } }, undefined],
  ['no tokens', { tokens: [] }, undefined],
  ['a token of more than 32 bits', { tokens: [2 ** 32] }, undefined],
  ['words', { tokens: ['a'] }, undefined],
])('%s is read', (_title, answer, tokens) => {
  expect(readTokens(JSON.stringify(answer))).toEqual(tokens?.map((prompt) => Uint32Array.from(prompt)))
})
