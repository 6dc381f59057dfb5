import { createParser } from 'eventsource-parser'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { documentRequest, metricOf, namesIn } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

type Json = Record<string, unknown>

let proxy: RunningProxy | undefined
let emulator: Emulator | undefined
let engine: RecordingEngineDouble | undefined
afterEach(async () => {
  await proxy?.close()
  await emulator?.close()
  await engine?.close()
  proxy = emulator = engine = undefined
})

/** Returns the text of a prompt with the named documents. */
function promptOf(question: string, names: string): string {
  const { messages } = documentRequest(question, names) as { messages: { content: string }[] }
  return messages[1]!.content
}

interface Api {
  readonly name: string
  readonly path: string
  body(prompt: string, stream: boolean): Json
  /** the prompt in a body that reached the engine */
  promptIn(body: Json): string
  /** the text of an answer that is not streamed */
  textOf(answer: never): string
  /** the text in one event of a stream */
  pieceOf(event: never): string | undefined
  /** how a stream ends */
  readonly end: RegExp
}

const chat: Api = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  body: (content, stream) => ({
    model: 'm',
    max_tokens: 9,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content }],
  }),
  promptIn: ({ messages }) => (messages as { content: string }[])[0]!.content,
  textOf: ({ choices }: { choices: { message: { content: string } }[] }) => choices[0]!.message.content,
  pieceOf: ({ choices }: { choices: { delta: { content?: string } }[] }) => choices[0]?.delta.content,
  end: /"choices":\[\],"usage":.*\n\ndata: \[DONE\]\n\n$/,
}

const apis: Api[] = [
  chat,
  {
    name: 'completions',
    path: '/v1/completions',
    body: (prompt, stream) => ({
      model: 'm',
      max_tokens: 9,
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
      prompt,
    }),
    promptIn: ({ prompt }) => prompt as string,
    textOf: ({ choices }: { choices: { text: string }[] }) => choices[0]!.text,
    pieceOf: ({ choices }: { choices: { text: string }[] }) => choices[0]?.text,
    end: /"choices":\[\],"usage":.*\n\ndata: \[DONE\]\n\n$/,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (input, stream) => ({ model: 'm', max_output_tokens: 9, stream, input, store: false }),
    promptIn: ({ input }) => input as string,
    textOf: ({ output }: { output: { content: { text: string }[] }[] }) => output[0]!.content[0]!.text,
    pieceOf: ({ type, delta }: { type: string; delta: string }) =>
      type === 'response.output_text.delta' ? delta : undefined,
    end: /event: response\.completed\ndata: .*\n\n$/,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (content, stream) => ({ model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content }] }),
    promptIn: ({ messages }) => (messages as { content: string }[])[0]!.content,
    textOf: ({ content }: { content: { text: string }[] }) => content[0]!.text,
    pieceOf: ({ delta }: { delta?: { text?: string } }) => delta?.text,
    end: /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
  },
  {
    name: 'generate',
    path: '/generate',
    body: (text, stream) => ({ sampling_params: { max_new_tokens: 9 }, stream, text }),
    promptIn: ({ text }) => text as string,
    textOf: ({ text }: { text: string }) => text,
    // every event repeats the text so far; the test splits it into pieces
    pieceOf: ({ text }: { text: string }) => text,
    end: /"finish_reason":\{"type":"length","length":9\}.*\n\ndata: \[DONE\]\n\n$/,
  },
]

const answer = 'This is canned text from an engine emulator.'

/** Starts a proxy in front of an emulator that speaks this API: the embedded one, or SGLang's for /generate. */
async function startFor({ path }: Api): Promise<RunningProxy> {
  if (path !== '/generate') return startReporting()
  emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    kind: 'sglang',
    capacityTokens: 100_000,
    prefillTokensPerSecond: 1e6,
  })
  return startTestProxy({ url: emulator.url, kind: 'sglang' })
}

/** Starts a proxy in front of the embedded emulator and waits until the emulator's first report, a snapshot, is in. */
async function startReporting(): Promise<RunningProxy> {
  const started = await startTestProxy()
  await (await postJson(started.url + chat.path, chat.body('A prompt of its own. '.repeat(20), false))).text()
  await vi.waitFor(async () => {
    const { replicas } = (await (await fetch(`${started.adminUrl}/v1/mirror`)).json()) as { replicas: Json[] }
    expect(replicas[0]).toMatchObject({ mode: 'exact', requests: 1 })
  })
  return started
}

async function startInFrontOfDouble(kind: 'vllm' | 'sglang' | 'openai' = 'openai'): Promise<RecordingEngineDouble> {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url, kind })
  return engine
}

function bodyOf(request: { body: Buffer } | undefined): Json {
  return JSON.parse(request!.body.toString()) as Json
}

function piecesOf(stream: string, api: Api): (string | undefined)[] {
  const pieces: (string | undefined)[] = []
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') pieces.push(api.pieceOf(JSON.parse(data) as never))
    },
  })
  parser.feed(stream)
  return pieces.filter((piece) => piece)
}

describe.each(apis)('$name', (api) => {
  test.each([false, true])('finds blocks, reorders them and counts what is cached (streamed: %s)', async (stream) => {
    proxy = await startFor(api)
    const ask = (question: string, names: string): Promise<Response> =>
      postJson(proxy!.url + api.path, api.body(promptOf(question, names), stream))
    const first = await ask('one', 'abc')
    await first.text()
    expect(first.headers.get('x-reprise-blocks')).toBe('3')
    expect(first.headers.get('x-reprise-moved')).toBe('0')
    const cachedTokens = 'reprise_cached_tokens_total{source="engine"}'
    const before = await metricOf(proxy.adminUrl, cachedTokens)

    const second = await ask('two', 'dba')
    const text = await second.text()
    expect(second.status).toBe(200)
    expect(Object.fromEntries(second.headers)).toMatchObject({
      'x-reprise-blocks': '3',
      'x-reprise-moved': '2',
      'x-reprise-deduplicated': '0',
      'x-request-id': expect.any(String),
    })
    expect(second.headers.get('x-reprise-skipped')).toBeNull()
    expect(Number(second.headers.get('x-reprise-predicted-cached-tokens'))).toBeGreaterThan(100)
    // two blocks of about 90 tokens each, and the text before them
    expect((await metricOf(proxy.adminUrl, cachedTokens)) - before).toBeGreaterThan(200)
    if (!stream) {
      expect(api.textOf(JSON.parse(text) as never)).toBe(answer)
      return
    }
    expect(second.headers.get('content-type')).toMatch('text/event-stream')
    expect(text).toMatch(api.end)
    const pieces = piecesOf(text, api)
    if (api.path === '/generate') expect([pieces[1], pieces.at(-1)]).toEqual(['This is', answer])
    else expect([pieces[1], pieces.join('')]).toEqual([' is', answer])
  })

  test('sends the same blocks in the order of the engine’s cache, and nothing else is changed', async () => {
    const { requests } = await startInFrontOfDouble()
    await postJson(proxy!.url + api.path, api.body(promptOf('one', 'abc'), false))
    const body = { ...api.body(promptOf('two', 'dba'), true), seed: 7, future: { x: [1] } }
    await postJson(proxy!.url + api.path, body)
    const sent = bodyOf(requests[1])
    expect(namesIn(api.promptIn(sent))).toBe('abd')
    const shape = (given: Json): string => JSON.stringify({ ...given, messages: 0, prompt: 0, input: 0, text: 0 })
    expect(shape(sent)).toBe(shape(body))
  })

  test('hears of mistakes in its own shape', async () => {
    const { requests } = await startInFrontOfDouble()
    const url = proxy!.url + api.path
    const wrong = await postJson(url, { ...api.body('Hi', false), reprise: { blocks: 'none' } })
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject(shapeOf(api, 'invalid_request_error', 'invalid_body', /reprise\/blocks/))
    await proxy!.close()
    proxy = await startTestProxy({ url: engine!.url }, { limits: { body_bytes: 100 } })
    const large = await postJson(proxy.url + api.path, api.body('x'.repeat(200), true))
    expect(large.status).toBe(413)
    const type = api.name === 'messages' ? 'request_too_large' : 'invalid_request_error'
    expect(await large.json()).toMatchObject(shapeOf(api, type, 'body_too_large', /./))
    expect(requests).toEqual([])
  })

  test('passes the engine’s own refusal on as it is', async () => {
    const double = await startInFrontOfDouble()
    const refusal = '{"type":"error", "error":{"type":"BadRequestError","message":"too long"}}'
    double.answer((response) => response.writeHead(400, { 'content-type': 'application/json' }).end(refusal))
    const response = await postJson(proxy!.url + api.path, api.body(promptOf('one', 'abc'), false))
    expect(response.status).toBe(400)
    expect(await response.text()).toBe(refusal)
  })

  test('gets a salt from vLLM’s dialect, an id too from SGLang’s, and nothing from OpenAI’s', async () => {
    for (const [kind, added] of [
      ['vllm', ['cache_salt']],
      ['sglang', ['rid', 'cache_salt']],
      ['openai', []],
    ] as const) {
      const double = await startInFrontOfDouble(kind)
      const body = api.body('Nothing to find here.', false)
      await postJson(proxy!.url + api.path, body, { headers: { 'x-request-id': 'mine' } })
      const sent = bodyOf(double.requests[0])
      expect(new Set(Object.keys(sent))).toEqual(new Set([...added, ...Object.keys(body)]))
      expect(sent).toMatchObject(body)
      if (kind === 'sglang') expect(sent.rid).toBe('mine')
      if (kind === 'openai') expect(double.requests[0]!.body.toString()).toBe(JSON.stringify(body))
      await proxy!.close()
      await double.close()
      proxy = engine = undefined
    }
  })
})

function shapeOf({ name }: Api, type: string, code: string, message: RegExp): object {
  const error = { type, code, message: expect.stringMatching(message) }
  return name === 'messages' ? { type: 'error', error } : { error: { ...error, param: null } }
}

test.each([
  ['/v1/completions', { prompt: [1, 2, 3] }],
  ['/v1/completions', { prompt: [[1, 2], [3]] }],
  ['/generate', { input_ids: [1, 2, 3] }],
])('token ids go byte for byte to %s', async (path, prompt) => {
  const { requests } = await startInFrontOfDouble()
  const body = ` ${JSON.stringify({ ...prompt, model: 'm' }, null, 1)}\n`
  const response = await postJson(proxy!.url + path, body)
  expect(requests[0]!.body.toString()).toBe(body)
  expect(response.headers.get('x-reprise-skipped')).toBe('token_ids')
})

test('a byte order mark stays in front of what is rewritten, and of what is not', async () => {
  const { requests } = await startInFrontOfDouble()
  const mark = '\uFEFF'
  const plain = `${mark}${JSON.stringify({ model: 'm', prompt: 'no blocks' })}`
  await postJson(`${proxy!.url}/v1/completions`, plain)
  expect(requests[0]!.body.toString()).toBe(plain)
  await postJson(`${proxy!.url}/v1/completions`, `${mark}${JSON.stringify({ prompt: promptOf('one', 'abc') })}`)
  await postJson(`${proxy!.url}/v1/completions`, `${mark}${JSON.stringify({ prompt: promptOf('two', 'cba') })}`)
  const sent = requests[2]!.body.toString()
  expect(sent.startsWith(mark)).toBe(true)
  expect(namesIn((JSON.parse(sent.slice(1)) as { prompt: string }).prompt)).toBe('abc')
})

test('token ids are answered', async () => {
  proxy = await startTestProxy()
  const response = await postJson(`${proxy.url}/v1/completions`, { prompt: [1, 2, 3], max_tokens: 9 })
  expect(await response.json()).toMatchObject({ choices: [{ text: answer }], usage: { prompt_tokens: 3 } })
})

test('each of several prompts is ordered for itself, and each after the ones before it', async () => {
  const { requests } = await startInFrontOfDouble()
  const url = `${proxy!.url}/v1/completions`
  await postJson(url, { prompt: [promptOf('one', 'abc'), promptOf('two', 'xyz')] })
  const response = await postJson(url, { prompt: [promptOf('three', 'zq'), 'no blocks', promptOf('four', 'cab')] })
  const [first, plain, last] = bodyOf(requests[1]).prompt as string[]
  expect([namesIn(first!), plain, namesIn(last!)]).toEqual(['zq', 'no blocks', 'abc'])
  expect(response.headers.get('x-reprise-blocks')).toBe('5')
})

test.each(apis)('$name that measure their prompts reach the engine as received', async (api) => {
  const { requests } = await startInFrontOfDouble()
  const send = async (names: string, more: object): Promise<Response> =>
    postJson(proxy!.url + api.path, { ...api.body(promptOf('one', names), false), ...more })
  await send('abc', {})
  const response = await send('dba', { prompt_logprobs: 1 })
  expect(namesIn(api.promptIn(bodyOf(requests[1])))).toBe('dba')
  expect(response.headers.get('x-reprise-skipped')).toBe('measured')
})

test('several prompts are answered, and each can be cached', async () => {
  proxy = await startReporting()
  const ask = async (question: string, first: string, second: string): Promise<Json> => {
    const prompt = [promptOf(question, first), promptOf(question, second)]
    return (await (await postJson(`${proxy!.url}/v1/completions`, { prompt, max_tokens: 9 })).json()) as Json
  }
  await ask('one', 'abc', 'xyz')
  const { choices, usage } = await ask('two', 'ba', 'zyx')
  expect(choices).toMatchObject([
    { index: 0, text: answer },
    { index: 1, text: answer },
  ])
  expect(
    (usage as { prompt_tokens_details: { cached_tokens: number } }).prompt_tokens_details.cached_tokens,
  ).toBeGreaterThan(450)
})

test('several choices of one prompt come as the engine made them', async () => {
  proxy = await startReporting()
  const url = proxy.url + chat.path
  await (await postJson(url, chat.body(promptOf('one', 'abc'), false))).text()
  const response = await postJson(url, { ...chat.body(promptOf('two', 'dba'), false), n: 2 })
  expect(response.headers.get('x-reprise-moved')).toBe('2')
  const { choices } = (await response.json()) as { choices: Json[] }
  expect(choices).toMatchObject([0, 1].map((index) => ({ index, message: { content: answer } })))
  const stream = await (await postJson(url, { ...chat.body(promptOf('three', 'ca'), true), n: 2 })).text()
  for (const index of [0, 1]) expect(stream.match(new RegExp(`"index":${index},`, 'g'))).toHaveLength(10)
})

test('calls of tools are streamed untouched, and so are tools and options on their way in', async () => {
  const double = await startInFrontOfDouble()
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
  await postJson(proxy!.url + chat.path, { ...chat.body(promptOf('one', 'abc'), false), tools })
  const stream =
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]}}]}\n\n' +
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"doc\\": \\"[1]\\"}"}}]}}]}\n\n' +
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
  double.answer((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream))
  const options = { include_usage: true, continuous_usage_stats: true }
  const asked = { ...chat.body(promptOf('two', 'dba'), true), tools, tool_choice: 'auto', stream_options: options }
  const response = await postJson(proxy!.url + chat.path, asked)
  // numbers in a call's arguments are not mapped back
  expect(response.headers.get('x-reprise-moved')).toBe('0')
  expect(await response.text()).toBe(stream)
  expect(bodyOf(double.requests[1])).toMatchObject({ tools, tool_choice: 'auto', stream_options: options })
})

test.each<[string, (result: string) => Json, (body: never) => string]>([
  [
    '/v1/messages',
    (content) => ({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'search', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: content }] },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    }),
    ({ messages }: { messages: [unknown, { content: { content: { text: string }[] }[] }] }) =>
      messages[1].content[0]!.content[0]!.text,
  ],
  [
    '/v1/responses',
    (output) => ({
      store: false,
      input: [
        { type: 'function_call', call_id: 't', name: 'search', arguments: '{}' },
        { type: 'function_call_output', call_id: 't', output },
        { role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
    }),
    ({ input }: { input: { output: string }[] }) => input[1]!.output,
  ],
  [
    '/v1/chat/completions',
    (content) => ({
      messages: [
        { role: 'tool', tool_call_id: 't', content },
        { role: 'user', content: 'So?' },
      ],
    }),
    ({ messages }: { messages: { content: string }[] }) => messages[0]!.content,
  ],
])('documents in the result of a tool are reordered in %s', async (path, body, resultIn) => {
  const { requests } = await startInFrontOfDouble()
  await postJson(proxy!.url + path, body(promptOf('one', 'abc')))
  const response = await postJson(proxy!.url + path, body(promptOf('two', 'dba')))
  expect(response.headers.get('x-reprise-blocks')).toBe('3')
  expect(namesIn(resultIn(bodyOf(requests[1]) as never))).toBe('abd')
})

test('what counts tokens passes byte for byte, both ways', async () => {
  const double = await startInFrontOfDouble('vllm')
  double.answer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens" : 7}'),
  )
  const body = ` ${JSON.stringify({ model: 'm', messages: [{ role: 'user', content: promptOf('one', 'abc') }] })}\n`
  const response = await postJson(`${proxy!.url}/v1/messages/count_tokens?beta=true`, body)
  expect(await response.text()).toBe('{"input_tokens" : 7}')
  expect(double.requests[0]!.body.toString()).toBe(body)
  expect(double.requests[0]!.url).toBe('/v1/messages/count_tokens?beta=true')
})

test('vLLM’s documents are reordered in place, as they were written, where the request says that they are a set', async () => {
  const { requests } = await startInFrontOfDouble()
  const document = (name: string): string => `{"title" : "${name}", "text":"${name} caf\\u00e9 ${'x'.repeat(200)}"}`
  const body = (question: string, names: string): string =>
    `{"documents": [ ${[...names].map(document).join(' , ')} ], "messages":[{"role":"user","content":"${question}"}]}`
  await postJson(proxy!.url + chat.path, body('one', 'abc'))
  const headers = { 'x-reprise-options': 'set' }
  const response = await postJson(proxy!.url + chat.path, body('two', 'dba'), { headers })
  const sent = requests[1]!.body.toString()
  for (const name of 'dba') expect(sent).toContain(document(name))
  expect((bodyOf(requests[1]).documents as { title: string }[]).map(({ title }) => title)).toEqual(['a', 'b', 'd'])
  expect(response.headers.get('x-reprise-blocks')).toBe('3')
})

test('a client’s salt is folded in, and never replaces the tenant’s', async () => {
  const { requests } = await startInFrontOfDouble('vllm')
  const saltFor = async (key: string, salt?: string): Promise<unknown> => {
    const body = { ...chat.body('Hi', false), ...(salt === undefined ? {} : { cache_salt: salt }) }
    await postJson(proxy!.url + chat.path, body, { headers: { authorization: key } })
    expect(
      requests
        .at(-1)!
        .body.toString()
        .match(/"cache_salt"/g),
    ).toHaveLength(1)
    return bodyOf(requests.at(-1)).cache_salt
  }
  const own = await saltFor('Bearer a')
  const salted = await saltFor('Bearer a', 'mine')
  const all = [
    own,
    salted,
    await saltFor('Bearer b'),
    await saltFor('Bearer b', 'mine'),
    await saltFor('Bearer b', String(own)),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(all).not.toContain('mine')
  expect(await saltFor('Bearer a', 'mine')).toBe(salted)
})

test('SGLang’s list of texts is a list of prompts', async () => {
  const { requests } = await startInFrontOfDouble('sglang')
  const url = `${proxy!.url}/generate`
  await postJson(url, { text: [promptOf('one', 'abc'), 'plain'] })
  await postJson(url, { text: ['plain', promptOf('two', 'dba')], rid: 'mine' })
  const { text, rid } = bodyOf(requests[1]) as { text: string[]; rid: string }
  expect([text[0], namesIn(text[1]!), rid]).toEqual(['plain', 'abd', 'mine'])
  await postJson(url, { text: ['plain', promptOf('three', 'dba')], rid: ['first', 'second'] })
  expect(bodyOf(requests[2])).toMatchObject({ rid: ['first', 'second'] })
})
