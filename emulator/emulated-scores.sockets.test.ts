import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { BodyMembers, PromptApi } from '#engine-adapters/prompt-api.ts'
import type { AnswerScores, AskScores } from '#engine-adapters/scoring/scored-prompt.ts'
import { type Emulator, emulatorDefaults, startEmulator } from './emulator.ts'

const documents = [
  'The ferry leaves at nine.',
  'Dogs travel free of charge.',
  'The crossing takes two hours in winter.',
]
const question = 'Question: How long does the crossing take in winter?'
const said = {
  'reader-content': documents[2]!,
  'reader-place': 'The ferry leaves\nDogs travel free\nThe crossing takes',
} as const
type Model = keyof typeof said
type Kind = 'vllm' | 'sglang'

const text = (texts: readonly string[]): string => [...texts, question].join('\n\n')
const bodies: Readonly<Record<PromptApi, (texts: readonly string[]) => BodyMembers>> = {
  chat_completions: (texts) => ({ messages: [{ role: 'user', content: text(texts) }] }),
  completions: (texts) => ({ prompt: text(texts) }),
  responses: (texts) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text: text(texts) }] }] }),
  messages: (texts) => ({ system: 'Be brief:', messages: [{ role: 'user', content: text(texts) }], max_tokens: 9 }),
  generate: (texts) => ({ text: text(texts) }),
}

describe.each(['vllm', 'sglang'] as const)('an emulated %s that reads', (kind) => {
  let engine: Emulator
  beforeAll(async () => {
    engine = await startEmulator({ ...emulatorDefaults, kind, host: '127.0.0.1', port: 0, reads: true })
  })
  afterAll(() => engine.close())

  const post: AskScores = async ({ path, body }) => {
    const response = await fetch(engine.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return response.ok ? response.json() : undefined
  }
  const apis = (['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const).filter(
    (api) => api !== 'generate' || kind === 'sglang',
  )
  const score = async (
    api: PromptApi,
    model: Model,
    texts: readonly string[],
    tokens?: number,
  ): Promise<AnswerScores> => {
    // in a text, an answer goes on behind a space
    const answer = api === 'completions' || api === 'generate' ? ` ${said[model]}` : said[model]
    const members = { model, ...bodies[api](texts) }
    return adapterFor(kind).scoreAnswer!({ api, members, answer, promptTokens: tokens }, post)
  }

  describe.each(apis)('asked by the API %s', (api) => {
    test.each([100, undefined])('finds its own answer likely: prompt of %s tokens', async (tokens) => {
      for (const model of ['reader-content', 'reader-place'] as const) {
        const scored = await score(api, model, documents, tokens)
        expect(scored).toContain(-0.05)
        expect(scored!.every((logprob) => logprob === -0.05)).toBe(true)
      }
    })

    test.each([100, undefined])('finds another order unlikely if it matters: prompt of %s tokens', async (tokens) => {
      const other = documents.toReversed()
      expect(await score(api, 'reader-content', other, tokens)).toEqual(
        await score(api, 'reader-content', documents, tokens),
      )
      const scores = await score(api, 'reader-place', other, tokens)
      expect(scores!.filter((logprob) => logprob === -6).length).toBeGreaterThan(2)
    })
  })

  test('answers, by the model that is asked, at once and in a stream', async () => {
    for (const model of ['reader-content', 'reader-place'] as const) {
      const body = { model, ...bodies.chat_completions(documents) }
      const whole = (await post({ path: '/v1/chat/completions', body })) as Completion
      expect(whole).toMatchObject({ model, choices: [{ message: { content: said[model] }, finish_reason: 'stop' }] })
      expect(await streamed(engine.url, body)).toBe(said[model])
    }
    const short = { model: 'reader-place', ...bodies.chat_completions(documents), max_tokens: 2 }
    expect(await post({ path: '/v1/chat/completions', body: short })).toMatchObject({
      choices: [{ message: { content: 'The ferry' }, finish_reason: 'length' }],
    })
  })

  test('lists both models', async () => {
    const response = await fetch(`${engine.url}/v1/models`)
    const { data } = (await response.json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['reader-content', 'reader-place'])
  })
})

interface Completion {
  choices: [{ message: { content: string } }]
}

async function streamed(url: string, body: BodyMembers): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  })
  const pieces = [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json]) => (JSON.parse(json!) as { choices: [{ delta: { content?: string } }] }).choices[0].delta.content ?? '',
  )
  return pieces.join('')
}

test.each(['vllm', 'sglang'] as const satisfies readonly Kind[])('%s is asked, other engines are not', (kind) => {
  expect(adapterFor(kind).scoreAnswer).toBeDefined()
  expect(adapterFor('openai').scoreAnswer).toBeUndefined()
})
