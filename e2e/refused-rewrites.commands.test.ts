import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { documentRequest, placedIn } from './placed-blocks.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { logLines, Reprises } from './run-reprise.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

type Chat = { messages: { role: string; content: string }[] }

const chat = '/v1/chat/completions'
const orderSentence = /Please read the context in the following priority order/

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url }, { mode: 'on' })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** Refuses what has the sentence that rewriting adds, as an engine does whose window it overfills. */
function refuseRewritten(status = 400): void {
  engine.answer((response, { body }) => {
    if (!orderSentence.test(body.toString())) return answerPlainly(response)
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"too long"}}')
  })
}

async function ask(body: object, path = chat): Promise<Response> {
  const response = await postJson(proxy.url + path, body)
  await response.clone().text()
  return response
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(name))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const bodies = (): Chat[] => engine.requests.map(({ body }) => JSON.parse(body.toString()) as Chat)
const failedOpen = 'reprise_fail_open_total{reason="refused_rewritten"}'

test.each([400, 413, 422])('a rewritten prompt that is refused with %i is sent as received', async (status) => {
  await ask(documentRequest('q1', 'ABCD'))
  refuseRewritten(status)
  const received = documentRequest('q2', 'DCBA')
  const answer = await ask(received)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-reprise-skipped')).toBe('refused_rewritten')
  expect(answer.headers.get('x-reprise-moved')).toBe('0')
  expect(engine.requests).toHaveLength(3)
  expect(placedIn(engine.requests[1])).toBe('ABCD')
  expect(bodies()[2]).toEqual(received)
  expect(await metric(failedOpen)).toBe(1)
  expect(await metric('reprise_skipped_total{reason="refused_rewritten"}')).toBe(1)
})

test.each([400, 503])(
  'blocks of a rewritten prompt that is refused with %i count as moved for no template',
  async (status) => {
    const movedBlocks = async (): Promise<number> => {
      const answer = await fetch(`${proxy.adminUrl}/v1/templates`)
      const { templates } = (await answer.json()) as { templates: { moved: number }[] }
      return templates.reduce((sum, { moved }) => sum + moved, 0)
    }
    for (const question of ['q1', 'q6', 'q7']) await ask(documentRequest(question, 'ABCD'))
    refuseRewritten(status)
    for (const question of ['q2', 'q3', 'q4']) await ask(documentRequest(question, 'DCBA'))
    expect(engine.requests.filter(({ body }) => orderSentence.test(body.toString()))).toHaveLength(3)
    expect(await movedBlocks()).toBe(0)
    engine.answer(answerPlainly)
    await ask(documentRequest('q5', 'DCBA'))
    await vi.waitFor(async () => expect(await movedBlocks()).toBe(4))
  },
)

test('the same prompt and its conversation go on as received', async () => {
  await ask(documentRequest('q1', 'ABCD'))
  refuseRewritten()
  const turns = documentRequest('q2', 'DCBA') as Chat
  await ask(turns)
  await ask(turns)
  expect(engine.requests).toHaveLength(4)
  expect(bodies()[3]).toEqual(turns)
  turns.messages.push({ role: 'assistant', content: 'answer' }, { role: 'user', content: 'and now?' })
  expect((await ask(turns)).status).toBe(200)
  expect(engine.requests).toHaveLength(5)
  expect(bodies()[4]).toEqual(turns)
})

test('a conversation whose earlier turns were rewritten goes as received from its first refusal on', async () => {
  await ask(documentRequest('q1', 'ABCD'))
  const turns = documentRequest('q2', 'DCBA') as Chat
  await ask(turns)
  expect(placedIn(engine.requests[1])).toBe('ABCD')
  refuseRewritten()
  for (const question of ['and now?', 'and then?']) {
    turns.messages.push({ role: 'assistant', content: 'answer' }, { role: 'user', content: question })
    const before = engine.requests.length
    expect((await ask(turns)).status).toBe(200)
    expect(bodies().at(-1)).toEqual(turns)
    expect(engine.requests.length - before).toBe(question === 'and now?' ? 2 : 1)
  }
})

test('explicit blocks are sent in their order', async () => {
  const request = (question: string, names: string): object => ({
    model: 'm',
    messages: [{ role: 'user', content: `{{context}}\n\nQuestion: ${question}` }],
    reprise: { conversation: question, blocks: [...names].map((name) => ({ text: `Text of ${name}. `.repeat(8) })) },
  })
  await ask(request('q1', 'ABCD'))
  refuseRewritten()
  expect((await ask(request('q2', 'DCBA'))).status).toBe(200)
  expect(engine.requests).toHaveLength(3)
  const [content] = bodies()[2]!.messages.map((message) => message.content)
  expect(content!.match(/Text of [A-D]/g)!.filter((text, i, all) => text !== all[i - 1])).toEqual(
    [...'DCBA'].map((name) => `Text of ${name}`),
  )
  expect(content).not.toMatch(orderSentence)
})

describe('a request that is wrong either way', () => {
  test('is sent twice, and the second answer is passed on as it is', async () => {
    await ask(documentRequest('q1', 'ABCD'))
    engine.answer((response) => {
      const number = engine.requests.length
      response.writeHead(422, { 'content-type': 'text/plain', 'x-number': String(number) }).end(`wrong ${number}`)
    })
    const answer = await ask(documentRequest('q2', 'DCBA'))
    expect([answer.status, answer.headers.get('x-number'), await answer.text()]).toEqual([422, '3', 'wrong 3'])
    expect(engine.requests).toHaveLength(3)
  })

  test('is rewritten as before once it is right', async () => {
    await ask(documentRequest('q1', 'ABCD'))
    engine.answer((response) => response.writeHead(400).end('{}'))
    await ask(documentRequest('q2', 'DCBA'))
    engine.answer(answerPlainly)
    await ask(documentRequest('q2', 'DCBA'))
    expect(placedIn(engine.requests.at(-1))).toBe('ABCD')
  })
})

test('a template has seen it once, as it was sent at last', async () => {
  await ask(documentRequest('q1', 'ABCD'))
  await ask(documentRequest('q2', 'ABCD'))
  refuseRewritten()
  await ask(documentRequest('q3', 'DCBA'))
  await vi.waitFor(async () => {
    const { templates } = (await (await fetch(`${proxy.adminUrl}/v1/templates`)).json()) as { templates: object[] }
    expect(templates).toMatchObject([{ requests: 3, moved: 0 }])
  })
})

test.each([401, 404, 429, 500])('an answer with status %i is passed on at once', async (status) => {
  await ask(documentRequest('q1', 'ABCD'))
  refuseRewritten(status)
  expect((await ask(documentRequest('q2', 'DCBA'))).status).toBe(status)
  expect(engine.requests).toHaveLength(2)
})

test('a stream of /generate that is refused by its first event is sent as received', async () => {
  const body = (names: string): object => {
    const { messages } = documentRequest('q', names) as Chat
    return { text: messages.map(({ content }) => content).join('\n\n'), stream: true }
  }
  await ask(body('ABCD'), '/generate')
  engine.answer((response, request) => {
    const isRefused = orderSentence.test(request.body.toString())
    const event = isRefused ? { error: { message: 'too long', code: 400 } } : { text: 'fine', meta_info: {} }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(event)}\n\n`)
  })
  const answer = await ask(body('DCBA'), '/generate')
  expect(await answer.text()).toContain('fine')
  expect(answer.headers.get('x-reprise-skipped')).toBe('refused_rewritten')
  expect(JSON.parse(engine.requests.at(-1)!.body.toString())).toEqual(body('DCBA'))
})

test('the log says so', async () => {
  const reprises = new Reprises()
  try {
    const logged = await reprises.start([
      'serve',
      ...['--mode', 'on', '--engine', engine.url],
      ...['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
    ])
    const send = (question: string, names: string): Promise<Response> =>
      postJson(logged.listening.url + chat, documentRequest(question, names))
    await send('q1', 'ABCD')
    refuseRewritten()
    expect((await send('q2', 'DCBA')).status).toBe(200)
    const line = { status: 400, request: expect.any(String) }
    await vi.waitFor(() =>
      expect(logLines(logged, 'the engine refused a rewritten prompt: sent as received')).toEqual([
        expect.objectContaining(line),
      ]),
    )
    const skipped = { status: 200, skipped: 'refused_rewritten', moved: 0 }
    await vi.waitFor(() => expect(logLines(logged, 'request')).toContainEqual(expect.objectContaining(skipped)))
  } finally {
    reprises.stopAll()
  }
})

test('a request that was not rewritten is refused at once', async () => {
  engine.answer((response) => response.writeHead(400).end('{"error":{"message":"no"}}'))
  expect((await ask(documentRequest('q1', 'ABCD'))).status).toBe(400)
  expect(engine.requests).toHaveLength(1)
  expect(await metric(failedOpen)).toBe(0)
})

describe.each(['vllm', 'sglang'] as const)('an emulated %s whose window a rewritten prompt overfills', (kind) => {
  let emulator: Emulator
  let narrow: RunningProxy
  const paths = kind === 'sglang' ? [chat, '/v1/completions', '/generate'] : [chat, '/v1/completions']

  async function tokensOf(body: object): Promise<number> {
    const wide = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, kind, capacityTokens: 100_000 })
    const response = await postJson(wide.url + chat, { ...body, max_tokens: 1 })
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number } }
    await wide.close()
    return usage.prompt_tokens
  }

  function bodyFor(path: string, request: Chat, isStream: boolean): object {
    if (path === chat) return { ...request, stream: isStream }
    const prompt = request.messages.map(({ content }) => content).join('\n\n')
    if (path === '/generate') return { text: prompt, stream: isStream }
    return { model: 'm', prompt, stream: isStream }
  }

  beforeEach(async () => {
    const maxModelTokens = (await tokensOf(documentRequest('q1', 'ABCD'))) + 8
    emulator = await startEmulator({
      ...emulatorDefaults,
      host: '127.0.0.1',
      port: 0,
      kind,
      capacityTokens: 100_000,
      maxModelTokens,
    })
    narrow = await startTestProxy({ url: emulator.url, kind }, { mode: 'on' })
  })
  afterEach(async () => {
    await narrow.close()
    await emulator.close()
  })

  test.each(paths.flatMap((path) => [false, true].map((isStream) => [path, isStream] as const)))(
    'answers %s as if nothing had been rewritten, streamed: %s',
    async (path, isStream) => {
      for (const [question, names, skipped] of [
        ['q1', 'ABCD', 'nothing_to_gain'],
        ['q2', 'DCBA', 'refused_rewritten'],
      ] as const) {
        const answer = await postJson(
          narrow.url + path,
          bodyFor(path, documentRequest(question, names) as Chat, isStream),
        )
        const text = await answer.text()
        expect([answer.status, answer.headers.get('x-reprise-skipped')], text).toEqual([200, skipped])
        expect(text).not.toContain('"error"')
      }
    },
  )
})
