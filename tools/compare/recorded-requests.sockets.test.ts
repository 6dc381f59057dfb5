import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CompareFixture, texts } from './compare.fixture.ts'
import { renderComparison } from './render-comparison.ts'

let fixture: CompareFixture

beforeEach(() => {
  fixture = new CompareFixture()
})

afterEach(() => fixture.close())

describe('recorded requests', () => {
  const toMessages = (ids: readonly number[]): { role: string; content: string }[] => {
    const documents = ids.map((id, i) => `<document index="${i + 1}">${texts[id]}</document>`).join('\n')
    return [
      { role: 'system', content: 'Be terse.' },
      { role: 'user', content: `<documents>\n${documents}\n</documents>\n\nQuestion: what of case 0?` },
    ]
  }
  const messages = toMessages([0, 1, 2, 3])
  const path = '/v1/chat/completions'

  /** As a recorder writes it: whole turns, which contain those before. */
  function writeRecording(bodies: readonly object[], others: readonly object[] = [], wishes: object = {}): string {
    const requests = [...bodies.map((body) => ({ path, body })), ...others]
    return fixture.writeLines(
      'recording',
      requests.map((request, i) => ({
        query_id: i,
        conversation: 'c',
        front: ['a'],
        blocks: ['b'],
        rest: [],
        request,
        ...wishes,
      })),
      [
        { id: 'a', text: 'pieces of' },
        { id: 'b', text: 'a prompt' },
      ],
    )
  }

  test('are sent as they were received, but for what a comparison needs', async () => {
    const engine = await fixture.startEngine()
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }]
    const first = {
      model: 'recorded-model',
      messages,
      tools,
      temperature: 0.7,
      n: 3,
      stream: false,
      max_completion_tokens: 900,
      min_tokens: 50,
      top_logprobs: 5,
      seed: 3,
    }
    const turn = [...messages, { role: 'assistant', content: 'This.' }, { role: 'user', content: 'And of case 1?' }]
    const second = { messages: turn, max_tokens: 900, cache_salt: 'theirs' }
    const engineSettings = { url: engine.url, kind: 'vllm' } as const
    await fixture.compare(writeRecording([first, second]), engine, { engine: engineSettings, passes: [] })
    const set = {
      model: 'served-model',
      temperature: 0,
      n: 1,
      stream: true,
      stream_options: { include_usage: true },
      logprobs: true,
      cache_salt: expect.stringMatching(/-received-default$/),
    }
    expect(engine.chats).toEqual([
      { messages, tools, seed: 3, max_completion_tokens: 8, ...set },
      { messages: turn, max_tokens: 8, ...set, cache_salt: expect.stringMatching(/-received-default-theirs$/) },
    ])
  })

  test('are rewritten as they would be on their way', async () => {
    const engine = await fixture.startEngine()
    const bodies = [{ messages }, { messages: toMessages([3, 0, 2, 1]) }]
    const { passes } = await fixture.compare(writeRecording(bodies), engine)
    expect(passes.map(({ pass, changed }) => [pass, changed])).toEqual([
      ['received', 0],
      ['again', 0],
      ['rewritten', 1],
    ])
  })

  test('keep their order if their client asked for it', async () => {
    const engine = await fixture.startEngine()
    const bodies = [{ messages }, { messages: toMessages([3, 0, 2, 1]) }]
    const { passes } = await fixture.compare(writeRecording(bodies, [], { reorder: false }), engine)
    expect(passes.map(({ changed }) => changed)).toEqual([0, 0, 0])
  })

  test('of other paths are left out, and the result says so', async () => {
    const engine = await fixture.startEngine()
    const other = { path: '/v1/completions', body: { prompt: 'p' } }
    const report = join(fixture.folder, 'report.md')
    const comparison = await fixture.compare(writeRecording([{ messages }], [other, other]), engine, { report })
    expect(comparison).toMatchObject({ requests: 1, left_out: 2 })
    for (const text of [renderComparison(comparison), readFileSync(report, 'utf8')]) {
      expect(text).toContain('were left out: 2.')
    }
  })

  test('of nothing but other paths are no trace to compare', async () => {
    const engine = await fixture.startEngine()
    const other = { path: '/v1/completions', body: { prompt: 'p' } }
    await expect(fixture.compare(writeRecording([], [other]), engine)).rejects.toThrow('/v1/chat/completions')
  })

  test('with blocks in a field of their own have them in their place in every pass', async () => {
    const engine = await fixture.startEngine()
    const bodies = [0, 1].map((i) => ({
      messages: [{ role: 'user', content: `{{context}}\n\nQuestion: what of case ${i}?` }],
      reprise: { blocks: [{ text: 'first text' }, { text: 'second text' }] },
    }))
    await fixture.compare(writeRecording(bodies), engine)
    expect(engine.chats).toHaveLength(6)
    for (const chat of engine.chats) {
      expect(JSON.stringify(chat.messages)).toMatch(/first text.*second text.*case/)
      expect(chat).not.toHaveProperty('reprise')
    }
  })

  test('are answered by the tools that are called', async () => {
    const calls = [
      { index: 0, function: { name: 'look_up', arguments: '{"id":' } },
      { index: 0, function: { arguments: '7}' } },
    ]
    const engine = await fixture.startEngine({ answer: () => calls.map((call) => ({ tool_calls: [call] })) })
    await fixture.compare(writeRecording([{ messages }]), engine)
    expect(readFileSync(join(fixture.folder, 'results.jsonl'), 'utf8')).toContain(
      JSON.stringify('look_up{"id":7}').slice(1, -1),
    )
  })
})
