import { createParser } from 'eventsource-parser'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
import { FakeReceiver } from './fake-receiver.fixture.ts'

type Json = Record<string, unknown>
interface StreamEvent {
  event: string | undefined
  data: Json & { type: string }
}

const long = 'A long enough text to fill some pages of the cache. '.repeat(20)
const messages = (content: unknown, more: Json = {}): Json => ({
  model: 'any',
  max_tokens: 3,
  messages: [{ role: 'user', content }],
  ...more,
})

let emulator: Emulator
afterEach(() => emulator.close())

async function start(options: Partial<EmulatorOptions> = {}): Promise<void> {
  emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    kind: 'vllm',
    capacityTokens: 100_000,
    prefillTokensPerSecond: 1e9,
    ...options,
  })
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(emulator.url + path, { method: 'POST', body: JSON.stringify(body), headers })
}

async function ask<T = Json>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const response = await post(path, body, headers)
  const answer = await response.json()
  expect(response.status, JSON.stringify(answer)).toBe(200)
  return answer as T
}

async function eventsOf(response: Response): Promise<StreamEvent[]> {
  expect(response.headers.get('content-type')).toMatch('text/event-stream')
  const events: StreamEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data: JSON.parse(data) }) })
  parser.feed(await response.text())
  return events
}

/** The prompt tokens of a chat with these messages, and how many of them are cached. */
async function chatUsage(chat: Json[]): Promise<{ prompt: number; cached: number }> {
  const { usage } = await ask<{ usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } } }>(
    '/v1/chat/completions',
    { messages: chat, max_tokens: 1 },
  )
  return { prompt: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens }
}

describe('POST /v1/messages', () => {
  it('answers in Anthropic’s shape, with what is cached apart from the input', async () => {
    await start({ blockSize: 1 })
    const first = await ask('/v1/messages', messages(long), { 'x-request-id': 'm-1' })
    expect(first).toEqual({
      id: 'chatcmpl-m-1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'This is canned' }],
      model: 'reprise-emulator',
      stop_reason: 'max_tokens',
      usage: { input_tokens: expect.any(Number), output_tokens: 3, cache_read_input_tokens: 0 },
    })
    const prompt = (first.usage as { input_tokens: number }).input_tokens
    const again = await ask('/v1/messages', messages(long))
    expect(again.usage).toEqual({ input_tokens: 1, output_tokens: 3, cache_read_input_tokens: prompt - 1 })
  })

  it('ends by itself when its limit is far away', async () => {
    await start()
    const answer = await ask('/v1/messages', messages('Hi', { max_tokens: 4096 }))
    expect(answer).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 24 } })
  })

  it('streams named events, and says what was cached in the end', async () => {
    await start({ blockSize: 1 })
    await ask('/v1/messages', messages(long))
    const events = await eventsOf(await post('/v1/messages', messages(long, { stream: true })))
    expect(events.map(({ event }) => event)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(events.every(({ event, data }) => event === data.type)).toBe(true)
    const begun = events[0]!.data.message as { usage: { input_tokens: number } }
    expect(begun).toMatchObject({ type: 'message', role: 'assistant', content: [], stop_reason: null })
    expect(events[2]!.data).toEqual({
      type: 'content_block_delta',
      delta: { type: 'text_delta', text: 'This' },
      index: 0,
    })
    expect(events.at(-2)!.data).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { input_tokens: 1, output_tokens: 3, cache_read_input_tokens: begun.usage.input_tokens - 1 },
    })
  })

  it('makes the same prompt of its parts, tools and results as a chat request', async () => {
    await start({ blockSize: 1 })
    const tool = { name: 'look_up', description: 'Looks up', input_schema: { type: 'object' } }
    await ask('/v1/messages', {
      model: 'any',
      max_tokens: 1,
      system: [
        { type: 'text', text: 'Be ' },
        { type: 'text', text: 'brief.' },
      ],
      tools: [tool],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'text', text: ' up' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look_up', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: long }] },
            { type: 'text', text: 'Now?' },
          ],
        },
      ],
    })
    const call = { id: 't1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    const { usage } = await ask<{ usage: Json }>('/v1/chat/completions', {
      max_tokens: 1,
      tools: [
        { type: 'function', function: { name: 'look_up', description: 'Looks up', parameters: { type: 'object' } } },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look up' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', content: long },
        { role: 'user', content: 'Now?' },
      ],
    })
    expect(usage.prompt_tokens_details).toEqual({ cached_tokens: (usage.prompt_tokens as number) - 1 })
  })

  it('puts system texts together and orders results as the engine does', async () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: 1' },
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ]
    const content = [
      { type: 'text', text: 'Said first' },
      { type: 'tool_result', content: 'Result' },
    ]
    const expected = {
      vllm: ['One.Two.', { role: 'tool', content: 'Result' }, { role: 'user', content: 'Said first' }],
      sglang: [
        'x-anthropic-billing-header: 1\nOne.\nTwo.',
        { role: 'user', content: 'Said first' },
        { role: 'tool', content: 'Result' },
      ],
    } as const
    for (const kind of ['vllm', 'sglang'] as const) {
      await start({ kind, blockSize: 1 })
      await ask('/v1/messages', messages(content, { system }))
      const [head, ...rest] = expected[kind]
      const { prompt, cached } = await chatUsage([{ role: 'system', content: head }, ...rest])
      expect(cached).toBe(prompt - 1)
      if (kind === 'vllm') await emulator.close()
    }
  })

  it('keeps salts apart as vLLM, and does not read them as SGLang', async () => {
    for (const kind of ['vllm', 'sglang'] as const) {
      await start({ kind, blockSize: 1 })
      const cached = async (salt: string): Promise<unknown> =>
        ((await ask('/v1/messages', messages(long, { cache_salt: salt }))).usage as Json).cache_read_input_tokens
      await cached('a')
      if (kind === 'vllm') expect(await cached('b')).toBe(0)
      else expect(await cached('b')).toBeGreaterThan(0)
      expect(await cached('a')).toBeGreaterThan(0)
      if (kind === 'vllm') await emulator.close()
    }
  })

  it('counts tokens as the prompt has them', async () => {
    await start()
    const { prompt } = await chatUsage([{ role: 'user', content: long }])
    const body = { model: 'any', messages: [{ role: 'user', content: long }] }
    expect(await ask('/v1/messages/count_tokens', body)).toEqual({
      input_tokens: prompt,
      context_management: { original_input_tokens: prompt },
    })
    await emulator.close()
    await start({ kind: 'sglang' })
    expect(await ask('/v1/messages/count_tokens', body)).toEqual({ input_tokens: prompt })
  })

  it.each([
    ['no model', { model: undefined }],
    ['no limit', { max_tokens: undefined }],
    ['a limit of 0', { max_tokens: 0 }],
    ['no messages', { messages: [] }],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['an unknown block', { messages: [{ role: 'user', content: [{ type: 'document' }] }] }],
  ])('refuses %s before it is Anthropic’s, so in OpenAI’s shape', async (_name, change) => {
    await start()
    const response = await post('/v1/messages', messages('Hi', change))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'Bad Request', code: 400 } })
  })

  it('refuses what is too long in Anthropic’s shape', async () => {
    for (const [kind, type] of [
      ['vllm', 'BadRequestError'],
      ['sglang', 'invalid_request_error'],
    ] as const) {
      await start({ kind, maxModelTokens: 50 })
      const response = await post('/v1/messages', messages(long))
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ type: 'error', error: { type, message: expect.any(String) } })
      if (kind === 'vllm') await emulator.close()
    }
  })
})

describe('POST /v1/responses', () => {
  it('answers with a response, finished or cut', async () => {
    await start()
    const answer = await ask('/v1/responses', { instructions: 'Be brief.', input: 'Hi', request_id: 'resp_1' })
    expect(answer).toMatchObject({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      incomplete_details: null,
      instructions: 'Be brief.',
      model: 'reprise-emulator',
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: expect.stringMatching(/^This is canned text/), annotations: [] }],
        },
      ],
      usage: { output_tokens: 24, input_tokens_details: { cached_tokens: 0 } },
    })
    const cut = await ask('/v1/responses', { input: 'Hi', max_output_tokens: 2 })
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  })

  it('streams numbered events that add up to the response in the last', async () => {
    await start({ blockSize: 1 })
    const body = { input: long, max_output_tokens: 2 }
    await ask('/v1/responses', body)
    const events = await eventsOf(await post('/v1/responses', { ...body, stream: true }))
    expect(events.map(({ event }) => event)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, i) => i))
    expect(events.every(({ event, data }) => event === data.type)).toBe(true)
    expect(events.filter(({ event }) => event?.endsWith('.delta')).map(({ data }) => data.delta)).toEqual([
      'This',
      ' is',
    ])
    const { response } = events.at(-1)!.data as unknown as { response: Json & { usage: Record<string, number> } }
    expect(response.output).toEqual([events.at(-2)!.data.item])
    expect(response.usage).toMatchObject({
      input_tokens_details: { cached_tokens: response.usage.input_tokens! - 1 },
      output_tokens: 2,
      total_tokens: response.usage.input_tokens! + 2,
    })
  })

  it('makes the same prompt of its items as a chat request', async () => {
    await start({ blockSize: 1 })
    await ask('/v1/responses', {
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'look_up', parameters: {} }],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Look up' }] },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: long },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
        { role: 'user', content: 'Now?' },
      ],
    })
    const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    const { usage } = await ask<{ usage: Json }>('/v1/chat/completions', {
      max_tokens: 1,
      tools: [{ type: 'function', function: { name: 'look_up', parameters: {} } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look up' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', content: long },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'Now?' },
      ],
    })
    expect(usage.prompt_tokens_details).toEqual({ cached_tokens: (usage.prompt_tokens as number) - 1 })
  })

  it('knows no earlier response and no item of an unknown type', async () => {
    await start()
    const earlier = await post('/v1/responses', { input: 'Hi', previous_response_id: 'resp_0' })
    expect(earlier.status).toBe(404)
    expect(await earlier.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'response_id' } })
    const unknown = await post('/v1/responses', { input: [{ type: 'computer_call' }] })
    expect(unknown.status).toBe(400)
    expect(await unknown.json()).toMatchObject({
      error: { message: 'Unsupported input item type: computer_call', param: 'input' },
    })
  })

  it.each([
    ['vllm', 'resp_7_0'],
    ['sglang', 'resp_7'],
  ] as const)('is reported by the id in its body, whatever the header says (%s)', async (kind, id) => {
    const receiver = new FakeReceiver()
    await receiver.start()
    try {
      await start({ kind, callbackUrl: receiver.url })
      await ask('/v1/responses', { input: long, request_id: 'resp_7', rid: 'mine' }, { 'x-request-id': 'mine' })
      await vi.waitFor(() => expect([...receiver.state.keys()]).toEqual([id]))
    } finally {
      await receiver.stop()
    }
  })
})

describe('a list of prompts for SGLang', () => {
  interface Generated {
    text: string
    index?: number
    meta_info: { id: string; cached_tokens: number }
  }

  it('is answered with a list, whose ids are numbered from 0', async () => {
    await start({ kind: 'sglang' })
    const body = { text: [long, `Other ${long}`], rid: 'g', sampling_params: { max_new_tokens: 2 } }
    const answers = await ask<Generated[]>('/generate', body)
    expect(answers.map(({ text, meta_info }) => [text, meta_info.id])).toEqual([
      ['This is', 'g_0'],
      ['This is', 'g_1'],
    ])
    const one = await ask<Generated[]>('/generate', { ...body, text: [long] })
    expect(one.map(({ meta_info }) => meta_info.id)).toEqual(['g_0'])
    expect(one[0]!.meta_info.cached_tokens).toBeGreaterThan(0)
    const ids = await ask<Generated[]>('/generate', { ...body, text: undefined, input_ids: [[1, 2], [3]] })
    expect(ids).toHaveLength(2)
    expect(await ask<Generated>('/generate', { ...body, text: long })).toMatchObject({ meta_info: { id: 'g' } })
  })

  it('is streamed with the place of each prompt', async () => {
    await start({ kind: 'sglang' })
    const body = { text: ['a', 'b'], stream: true, sampling_params: { max_new_tokens: 2 } }
    const lines = (await (await post('/generate', body)).text()).split('\n\n')
    expect(lines.splice(-2)).toEqual(['data: [DONE]', ''])
    const messages = lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Generated)
    for (const index of [0, 1]) {
      expect(messages.filter((one) => one.index === index).map(({ text }) => text)).toEqual(['This', 'This is'])
    }
  })

  it('names completions in the same way', async () => {
    await start({ kind: 'sglang' })
    expect(await ask('/v1/completions', { prompt: ['a', 'b'], rid: 'c', max_tokens: 1 })).toMatchObject({ id: 'c_0' })
    expect(await ask('/v1/completions', { prompt: 'a', rid: 'c', max_tokens: 1 })).toMatchObject({ id: 'c' })
  })
})
