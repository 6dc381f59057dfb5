import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Emulator, type EmulatorOptions, emulatorDefaults, startEmulator } from './emulator.ts'
import { FakeReceiver } from './fake-receiver.fixture.ts'

type Json = Record<string, unknown>
interface Answer {
  id: string
  model: string
  choices: Array<{
    index: number
    text: string
    message: { content: string }
    delta: Json
    finish_reason: string | null
  }>
  usage: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details: { cached_tokens: number } }
}

const fast = { host: '127.0.0.1', port: 0, capacityTokens: 100_000, prefillTokensPerSecond: 1e9 }
const question = 'A long enough question to fill some pages of the cache. '.repeat(20)
const chat = (content: string, more: Json = {}): Json => ({
  messages: [{ role: 'user', content }],
  max_tokens: 3,
  ...more,
})

let emulator: Emulator
afterEach(() => emulator.close())

async function start(options: Partial<EmulatorOptions> = {}): Promise<void> {
  emulator = await startEmulator({ ...fast, kind: 'vllm', ...options })
}

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(emulator.url + path, { method: 'POST', body: text, headers, ...(signal ? { signal } : {}) })
}

async function complete(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await post('/v1/chat/completions', body, headers)
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

/** Returns the messages of a stream; checks its framing. */
async function messagesOf(response: Response): Promise<Answer[]> {
  expect(response.headers.get('content-type')).toMatch('text/event-stream')
  const lines = (await response.text()).split('\n\n')
  expect(lines.splice(-2)).toEqual(['data: [DONE]', ''])
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')))
}

/** Waits until nothing runs in the engine. */
async function untilIdle(): Promise<void> {
  await vi.waitFor(
    async () => expect(await (await post('/reset_prefix_cache', '')).json()).toEqual({ success: true }),
    { timeout: 5000, interval: 5 },
  )
}

describe('POST /v1/chat/completions', () => {
  it('counts cached tokens in whole pages and never the last prompt token', async () => {
    await start()
    const first = (await complete(chat(question))).usage
    const again = (await complete(chat(question))).usage
    expect(first.prompt_tokens_details.cached_tokens).toBe(0)
    expect(again.prompt_tokens).toBe(first.prompt_tokens)
    expect(again.prompt_tokens_details.cached_tokens).toBe(Math.floor((first.prompt_tokens - 1) / 16) * 16)
  })

  it('lets a conversation reuse its earlier turns with their answers', async () => {
    await start({ blockSize: 1 })
    const first = await complete(chat(question, { max_tokens: 40 }))
    const messages = [
      { role: 'user', content: question },
      { role: 'assistant', content: first.choices[0]?.message.content },
      { role: 'user', content: 'And?' },
    ]
    const second = (await complete({ messages, max_tokens: 1 })).usage
    // all but the answer's last token, which was sampled but never computed
    expect(second.prompt_tokens_details.cached_tokens).toBe(first.usage.prompt_tokens + 39)
  })

  it('says in its model and its text that it is no model', async () => {
    await start()
    const answer = await complete({ messages: [{ role: 'user', content: 'Hi' }], model: 'any' })
    expect(answer.model).toBe('reprise-emulator')
    expect(answer.choices[0]?.message.content).toMatch(
      /^This is canned text from an engine emulator\. It is not a model/,
    )
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.usage.completion_tokens).toBe(24)
  })

  it('streams token by token, with usage in a last chunk without choices if asked', async () => {
    await start()
    const options = { stream: true, stream_options: { include_usage: true } }
    const messages = await messagesOf(await post('/v1/chat/completions', chat('Hi', options)))
    const deltas = messages.slice(0, -1).map((message) => message.choices[0]?.delta)
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { content: 'This' },
      { content: ' is' },
      { content: ' canned' },
    ])
    expect(messages.map((message) => message.choices[0]?.finish_reason)).toEqual([
      null,
      null,
      null,
      'length',
      undefined,
    ])
    expect(messages.at(-1)?.choices).toEqual([])
    expect(messages.at(-1)?.usage.completion_tokens).toBe(3)
    expect(messages.slice(0, -1).every((message) => !('usage' in message))).toBe(true)
    const without = await messagesOf(await post('/v1/chat/completions', chat('Hi', { stream: true })))
    expect(without.some((message) => 'usage' in message)).toBe(false)
  })

  it('paces the stream at 200 tokens a second', async () => {
    await start()
    const asked = performance.now()
    const response = await post('/v1/chat/completions', chat('Hi', { stream: true, max_tokens: 21 }))
    let chunks = 0
    for await (const _chunk of response.body!) chunks++
    expect(chunks).toBeGreaterThan(1)
    expect(performance.now() - asked).toBeGreaterThan(95)
  })

  it('makes n choices of one prompt', async () => {
    await start()
    const answer = await complete(chat('Hi', { n: 3 }))
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2])
    expect(answer.usage.completion_tokens).toBe(9)
    const messages = await messagesOf(await post('/v1/chat/completions', chat('Hi', { n: 2, stream: true })))
    expect(messages.filter((message) => message.choices[0]?.index === 1)).toHaveLength(4)
  })

  it('never shares between different cache salts', async () => {
    await start()
    await complete(chat(question, { cache_salt: 'a' }))
    expect((await complete(chat(question, { cache_salt: 'b' }))).usage.prompt_tokens_details.cached_tokens).toBe(0)
    expect(
      (await complete(chat(question, { cache_salt: 'a' }))).usage.prompt_tokens_details.cached_tokens,
    ).toBeGreaterThan(0)
  })

  it('takes time for what is not cached', async () => {
    await start({ prefillTokensPerSecond: 200 })
    const timed = async (): Promise<number> => {
      const started = performance.now()
      await complete(chat(question, { max_tokens: 1 }))
      return performance.now() - started
    }
    const cold = await timed()
    const warm = await timed()
    expect(cold).toBeGreaterThan(1_000)
    expect(warm).toBeLessThan(cold)
  })

  it('names the answer after X-Request-Id, or after rid with SGLang', async () => {
    await start()
    expect((await complete(chat('Hi'), { 'x-request-id': 'r-17' })).id).toBe('chatcmpl-r-17')
    expect((await complete(chat('Hi'))).id).toMatch(/^chatcmpl-\w{32}$/)
    await emulator.close()
    await start({ kind: 'sglang' })
    expect((await complete(chat('Hi', { rid: 'r-18' }), { 'x-request-id': 'r-17' })).id).toBe('r-18')
  })

  it("answers a waiting stream's headers at once as vLLM, with the first token as SGLang", async () => {
    for (const kind of ['vllm', 'sglang'] as const) {
      await start({ kind, prefillTokensPerSecond: kind === 'vllm' ? 100 : 2_000 })
      const started = performance.now()
      const response = await post('/v1/chat/completions', chat(question, { stream: true }))
      // vLLM is still computing, and refuses to be cleared
      if (kind === 'vllm') expect(await (await post('/reset_prefix_cache', '')).json()).toEqual({ success: false })
      else expect(performance.now() - started).toBeGreaterThan(100)
      await response.text()
      if (kind === 'vllm') await emulator.close()
    }
  })
})

describe('POST /v1/completions', () => {
  it('takes a text, several texts and token ids', async () => {
    await start()
    const ask = async (prompt: unknown): Promise<Answer> =>
      (await (await post('/v1/completions', { prompt, max_tokens: 2 })).json()) as Answer
    expect((await ask('Hello')).choices.map((choice) => choice.text)).toEqual(['This is'])
    expect((await ask(['Hello', 'World'])).choices.map((choice) => choice.index)).toEqual([0, 1])
    expect((await ask([1, 2, 3])).usage.prompt_tokens).toBe(3)
    expect((await ask([[1, 2], [3]])).usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 })
    const messages = await messagesOf(
      await post('/v1/completions', { prompt: ['a', 'b'], max_tokens: 2, stream: true }),
    )
    expect(messages.filter((message) => message.choices[0]?.index === 1).map((m) => m.choices[0]?.text)).toEqual([
      'This',
      ' is',
    ])
  })

  it('finds token ids in the cache', async () => {
    await start()
    const prompt = Array.from({ length: 64 }, (_, index) => index)
    const ask = async (): Promise<Answer> =>
      (await (await post('/v1/completions', { prompt, max_tokens: 1 })).json()) as Answer
    await ask()
    expect((await ask()).usage.prompt_tokens_details.cached_tokens).toBe(48)
  })
})

describe('POST /generate', () => {
  it('answers as SGLang does, at once and in a stream of growing texts', async () => {
    await start({ kind: 'sglang' })
    const body = { text: question, rid: 'g-1', sampling_params: { max_new_tokens: 2 } }
    const first = (await (await post('/generate', body)).json()) as { text: string; meta_info: Json }
    expect(first.text).toBe('This is')
    expect(first.meta_info).toMatchObject({
      id: 'g-1',
      completion_tokens: 2,
      cached_tokens: 0,
      finish_reason: { type: 'length' },
    })
    const messages = (await messagesOf(await post('/generate', { ...body, stream: true }))) as unknown as Array<
      typeof first
    >
    expect(messages.map((message) => message.text)).toEqual(['This', 'This is'])
    expect(messages[0]?.meta_info.cached_tokens).toBe((first.meta_info.prompt_tokens as number) - 1)
    const ids = (await (await post('/generate', { input_ids: [1, 2, 3] })).json()) as typeof first
    expect(ids.meta_info).toMatchObject({ prompt_tokens: 3, completion_tokens: 24, finish_reason: { type: 'stop' } })
  })
})

describe('refusals', () => {
  it("refuses an over-long prompt in the engine's words and shape", async () => {
    await start({ maxModelTokens: 100 })
    const response = await post('/v1/chat/completions', chat(question))
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringMatching(
          /^This model's maximum context length is 100 tokens\. However, your request has/,
        ),
        type: 'BadRequestError',
        param: 'input_tokens',
        code: 400,
      },
    })
    const output = await post('/v1/chat/completions', chat('Hi', { max_tokens: 99 }))
    expect(await output.json()).toMatchObject({ error: { param: 'max_tokens', code: 400 } })
    await emulator.close()
    await start({ kind: 'sglang', maxModelTokens: 100 })
    expect(await (await post('/v1/chat/completions', chat(question))).json()).toEqual({
      object: 'error',
      message: expect.stringMatching(
        /^The input \(at least \d+ tokens\) is longer than the model's context length \(100 tokens\)/,
      ),
      type: 'BadRequestError',
      param: null,
      code: 400,
    })
  })

  it('refuses a prompt that the whole cache cannot hold', async () => {
    await start({ capacityTokens: 160 })
    expect((await post('/v1/chat/completions', chat(question))).status).toBe(400)
    expect((await complete(chat('Hi'))).choices).toHaveLength(1)
  })

  it.each([
    ['not JSON', '{"messages": [', 400],
    ['no body', '', 400],
    ['an array', '[]', 400],
    ['messages of a wrong type', '{"messages": "Hi"}', 400],
    ['a message without role', '{"messages": [{"content": "Hi"}]}', 400],
    ['content of a wrong type', '{"messages": [{"role": "user", "content": 7}]}', 400],
    ['no room for an answer', '{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 0}', 400],
    ['too many choices', '{"messages": [{"role": "user", "content": "Hi"}], "n": 1e9}', 400],
    ['deep nesting', `{"messages": [{"role": "user"}], "tools": ${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 400],
    ['polluting keys', '{"messages": [{"role": "user", "__proto__": {"content": 1}}], "__proto__": 1}', 200],
    ['lone surrogates', '{"messages": [{"role": "user", "content": "\\ud800"}]}', 200],
    ['special tokens', '{"messages": [{"role": "<|endoftext|>", "content": "<|endoftext|>"}]}', 200],
    [
      'unknown fields',
      '{"messages": [{"role": "user", "content": "Hi"}], "future": {"x": 1}, "max_tokens": null}',
      200,
    ],
  ])('answers a body with %s', async (_name, body, status) => {
    await start()
    const response = await post('/v1/chat/completions', body)
    const answer = (await response.json()) as Json
    expect(response.status).toBe(status)
    if (status === 400)
      expect(answer).toMatchObject({ error: { code: 400, message: expect.any(String), type: expect.any(String) } })
  })

  it('answers whatever JSON it is sent', async () => {
    await start()
    const paths = fc.constantFrom(
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1/messages/count_tokens',
      '/tokenize',
    )
    const fields = fc.constantFrom(
      'model',
      'messages',
      'prompt',
      'input',
      'instructions',
      'system',
      'tools',
      'stream',
      'n',
      'max_tokens',
      'cache_salt',
      'role',
      'content',
      'type',
    )
    const bodies = fc.letrec((tie) => ({
      value: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.array(tie('object'), { maxLength: 2 }), tie('object')),
      object: fc.dictionary(fields, tie('value'), { maxKeys: 4 }),
    })).object
    await fc.assert(
      fc.asyncProperty(paths, bodies, async (path, body) => {
        const response = await post(path, { max_tokens: 1, ...(body as object) })
        await response.text()
        expect([200, 400]).toContain(response.status)
      }),
      { numRuns: 200 },
    )
  })

  it('refuses a body of more than 32 MiB before reading it all', async () => {
    await start()
    const request = httpRequest(`${emulator.url}/v1/completions`, { method: 'POST' })
    request.on('error', () => {})
    request.write(Buffer.alloc(33 << 20, 97))
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(413)
    request.destroy()
  })

  it("answers unknown paths and methods in the engine's shape", async () => {
    await start()
    expect(await (await post('/v1/nothing', {})).json()).toEqual({
      error: { message: 'Not Found', type: 'Not Found', param: null, code: 404 },
    })
    expect((await fetch(`${emulator.url}/v1/chat/completions`)).status).toBe(405)
    expect((await post('/generate', {})).status).toBe(404)
    await emulator.close()
    await start({ kind: 'sglang' })
    const response = await fetch(`${emulator.url}/v1/nothing`)
    expect([response.status, await response.json()]).toEqual([404, { detail: 'Not Found' }])
    expect(await (await post('/generate', {})).json()).toEqual({ error: { message: expect.any(String) } })
  })

  it('survives what is not HTTP', async () => {
    await start()
    const { hostname, port } = new URL(emulator.url)
    const socket = connect(Number(port), hostname)
    socket.end('\u0000\u0001 nonsense\r\n\r\n')
    await once(socket.resume(), 'close')
    expect((await fetch(`${emulator.url}/health`)).status).toBe(200)
  })
})

describe('other routes', () => {
  it('tells its health, its model and its tokens', async () => {
    await start()
    expect((await fetch(`${emulator.url}/health?x=1`)).status).toBe(200)
    const models = (await (await fetch(`${emulator.url}/v1/models`)).json()) as { data: Json[] }
    expect(models.data[0]).toMatchObject({ id: 'reprise-emulator', max_model_len: 100_000 })
    const tokens = (await (await post('/tokenize', chat(question))).json()) as { count: number; tokens: number[] }
    expect(tokens.count).toBe((await complete(chat(question))).usage.prompt_tokens)
    expect(tokens.tokens).toHaveLength(tokens.count)
    expect(await (await post('/tokenize', { prompt: 'Hello world' })).json()).toMatchObject({ count: 2 })
  })

  it('empties the cache, but not while a request runs', async () => {
    await start()
    const running = await post('/v1/chat/completions', chat(question, { stream: true, max_tokens: 100 }))
    expect(await (await post('/reset_prefix_cache', '')).json()).toEqual({ success: false })
    await running.text()
    expect(await (await post('/reset_prefix_cache', '')).json()).toEqual({ success: true })
    expect((await complete(chat(question))).usage.prompt_tokens_details.cached_tokens).toBe(0)
    await emulator.close()
    await start({ kind: 'sglang' })
    expect((await post('/flush_cache', '')).status).toBe(200)
    expect((await post('/reset_prefix_cache', '')).status).toBe(404)
  })
})

describe('a client that leaves', () => {
  async function leave(after: number, bodies: Json[], options: Partial<EmulatorOptions>): Promise<void> {
    await start(options)
    const client = new AbortController()
    const calls = bodies.map((body) =>
      post('/v1/chat/completions', body, {}, client.signal).then((response) => response.text()),
    )
    const outcomes = Promise.allSettled(calls)
    await delay(after)
    client.abort()
    // the aborted computation would take minutes
    await untilIdle()
    expect((await outcomes).every((outcome) => outcome.status === 'rejected')).toBe(true)
  }

  it('stops a prefill', async () => {
    await leave(100, [chat(question)], { prefillTokensPerSecond: 1 })
  })

  it('stops waiting in the queue', async () => {
    const bodies = [chat(question), chat(question, { stream: true }), chat('other')]
    await leave(100, bodies, { prefillTokensPerSecond: 1 })
  })

  it('stops decoding', async () => {
    const bodies = [chat('Hi', { max_tokens: 10_000, stream: true }), chat('Hi', { max_tokens: 10_000 })]
    await leave(100, bodies, {})
  })

  it('stops decoding also when it has not read anything', async () => {
    await start({ kind: 'vllm' })
    const request = httpRequest(`${emulator.url}/v1/chat/completions`, { method: 'POST' })
    request.end(JSON.stringify(chat('Hi', { max_tokens: 10_000, stream: true })))
    const [response] = await once(request, 'response')
    response.pause()
    await delay(50)
    request.destroy()
    await untilIdle()
  })
})

describe('eviction callbacks', () => {
  const receiver = new FakeReceiver()
  afterEach(() => receiver.stop())

  it.each(['vllm', 'sglang'] as const)("keeps a receiver's picture equal to the cache (%s)", async (kind) => {
    await receiver.start()
    await start({ kind, capacityTokens: 1600, blockSize: 16, callbackUrl: receiver.url, callbackToken: 'secret' })
    const ask = async (id: string, content: string) =>
      (await complete(chat(content, { rid: id }), { 'x-request-id': id })).usage.prompt_tokens
    const whole = (tokens: number): number => Math.floor(tokens / 16) * 16

    const first = await ask('first', question)
    const twin = await ask('twin', `${question}.`)
    const pages = { first: whole(first + 2), twin: whole(twin + 2) }
    await vi.waitFor(() => expect(Object.fromEntries(receiver.state)).toEqual(pages))

    for (let index = 0; index < 8; index++) await ask(`filler-${index}`, `${index} ${question}`)
    await vi.waitFor(() => expect(receiver.state.get('filler-7')).toBeDefined())
    expect(receiver.state.has('first')).toBe(false)
    expect(receiver.state.has('twin')).toBe(false)
    const last = await complete(chat(`7 ${question}`, { rid: 'again' }), { 'x-request-id': 'again' })
    expect(last.usage.prompt_tokens_details.cached_tokens).toBe(whole(last.usage.prompt_tokens - 1))

    await post(kind === 'vllm' ? '/reset_prefix_cache' : '/flush_cache', '')
    await vi.waitFor(() => expect(receiver.state.size).toBe(0))
    expect(receiver.posts.every((one) => one.authorization === 'Bearer secret')).toBe(true)
    expect(receiver.posts[0]?.path).toBe('/v1/replicas/engine/snapshot')
  })

  it('names each prompt of a completion request', async () => {
    await receiver.start()
    await start({ callbackUrl: receiver.url })
    await post('/v1/completions', { prompt: [question, `Other ${question}`], max_tokens: 1 }, { 'x-request-id': 'x' })
    await vi.waitFor(() => expect([...receiver.state.keys()].slice(-2)).toEqual(['x', 'x-1']))
  })

  it('serves while nobody receives', async () => {
    await start({ callbackUrl: 'http://127.0.0.1:9/v1/replicas/none' })
    expect((await complete(chat('Hi'))).choices).toHaveLength(1)
  })
})

describe('emulatorDefaults', () => {
  it('can be started with', async () => {
    emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0 })
    expect((await complete(chat('Hi'))).choices).toHaveLength(1)
  })
})
