import type { ServerResponse } from 'node:http'
import { setImmediate as immediate } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  generate,
  messages,
  openAiChat,
  responses,
  type StreamOf,
  vllmChat,
  vllmCompletion,
} from '#proxy/answer/answer-streams.fixture.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, documentRequest, metricOf } from './placed-blocks.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url })
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

const names = 'ABCDEFGHIJKL'
const backwards = [...names].reverse().join('')

/** Returns a request body with these documents in the format of the API at `path`. */
function bodyFor(path: string, documents: string): object {
  const chat = documentRequest('q', documents) as { messages: { content: string }[] }
  const text = chat.messages[1]!.content
  const bodies: Record<string, object> = {
    '/v1/chat/completions': chat,
    '/v1/completions': { model: 'm', prompt: text },
    '/v1/responses': { model: 'm', input: text, store: false },
    '/v1/messages': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }] },
    '/generate': { text },
  }
  return bodies[path]!
}

/** Asks with twelve documents in the reverse of the order the engine holds: its `[1]` is the caller's `[12]`. */
async function ask(
  path: string,
  respond: (response: ServerResponse) => void,
  headers: Record<string, string> = {},
  rest: object = {},
  moved = 12,
): Promise<Response> {
  engine.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  await (await postJson(proxy.url + path, bodyFor(path, names))).text()
  engine.answer(respond)
  const response = await postJson(proxy.url + path, { ...bodyFor(path, backwards), ...rest }, { headers })
  expect(response.headers.get('x-reprise-moved')).toBe(`${moved}`)
  return response
}

/** Writes an answer one byte at a time. */
async function writeByBytes(response: ServerResponse, type: string, bytes: Buffer): Promise<void> {
  response.socket!.setNoDelay(true)
  response.writeHead(200, { 'content-type': type })
  for (const byte of bytes) {
    response.write(Buffer.of(byte))
    await immediate()
  }
  response.end()
}

// as sent by the engine, and as received by the client; the last label is cut in two
const pieces = ['Ärger 🙂 in [', '1', '], [2, 3]', ' and [12', '] – 文档 [1', '2].']
const mapped = ['Ärger 🙂 in [', '12', '], [11, 10]', ' and [1', '] – 文档 [1', '].']

const streams: [string, StreamOf][] = [
  ['/v1/chat/completions', vllmChat],
  ['/v1/chat/completions', openAiChat],
  ['/v1/completions', vllmCompletion],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/generate', generate],
]

/** Answers that are not streamed: the text, and other fields with lookalikes of citations. */
const bodies: Record<string, (text: string) => string> = {
  '/v1/chat/completions': (text) =>
    `{ "id":"[1]", "seed": 12345678901234567890, "choices":[{"index":0,"message":{"role":"assistant","reasoning_content":${JSON.stringify(text)},"content":${JSON.stringify(text)},"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"at\\":[1]}"}}]}}], "usage":{"prompt_tokens":3,"completion_tokens":1}}`,
  '/v1/completions': (text) => `{"choices":[{"index":0,"text":${JSON.stringify(text)},"logprobs":null}]}`,
  '/v1/responses': (text) =>
    `{"instructions":"[1]","output":[{"type":"function_call","arguments":"[1]"},{"type":"message","content":[{"type":"output_text","annotations":[],"text":${JSON.stringify(text)}}]}]}`,
  '/v1/messages': (text) =>
    `{"type":"message","content":[{"type":"thinking","thinking":${JSON.stringify(text)},"signature":"[1]"},{"type":"text","text":${JSON.stringify(text)}},{"type":"tool_use","input":{"at":"[1]"}}]}`,
  '/generate': (text) => `{"text":${JSON.stringify(text)},"meta_info":{"id":"[1]"}}`,
}

describe('citations are mapped back', () => {
  test.each(streams)('in a stream of %s that comes byte by byte (%#)', async (path, streamOf) => {
    const bytes = Buffer.from(streamOf(pieces))
    const response = await ask(
      path,
      (answer) => void writeByBytes(answer, 'text/event-stream', bytes),
      {},
      { stream: true },
    )
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toBe(streamOf(mapped))
    expect(await metricOf(proxy.adminUrl, 'reprise_citations_remapped_total')).toBeGreaterThanOrEqual(5)
    // otherwise the engine might encode the answer, and citations in encoded text cannot be mapped
    expect(engine.requests.at(-1)!.headers['accept-encoding']).toBe('identity')
    expect(engine.requests[0]!.headers['accept-encoding']).not.toBe('identity')
  })

  test.each(Object.keys(bodies))('in a body of %s, and nothing else in it changes', async (path) => {
    const bytes = Buffer.from(bodies[path]!(pieces.join('')))
    const response = await ask(path, (answer) => {
      answer
        .writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, etag: '"of the bytes"' })
        .end(bytes)
    })
    const text = await response.text()
    expect(text).toBe(bodies[path]!(mapped.join('')))
    const length = response.headers.get('content-length')
    expect(length === null ? undefined : Number(length)).toBeOneOf([undefined, Buffer.byteLength(text)])
    expect(response.headers.get('etag')).toBeNull()
  })

  test('in a body that comes byte by byte', async () => {
    const bytes = Buffer.from(bodies['/v1/chat/completions']!(pieces.join('')))
    const response = await ask('/v1/chat/completions', (answer) => void writeByBytes(answer, 'application/json', bytes))
    expect(await response.text()).toBe(bodies['/v1/chat/completions']!(mapped.join('')))
  })
})

test.each([
  [
    '/v1/completions',
    'prompt',
    (text: string) => `{"choices":[{"index":0,"text":"${text}"},{"index":1,"text":"${text}"}]}`,
  ],
  ['/generate', 'text', (text: string) => `[{"text":"${text}"},{"text":"${text}"}]`],
])('each answer to the prompts of one body of %s has the labels of its own prompt', async (path, member, bodyOf) => {
  const textOf = (documents: string): string => (bodyFor(path, documents) as Record<string, string>)[member]!
  engine.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  await (await postJson(proxy.url + path, bodyFor(path, names))).text()
  engine.answer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(bodyOf('in [1] and Document 2.')),
  )
  const prompts = [textOf(backwards), textOf(names)]
  const text = await (await postJson(proxy.url + path, { ...bodyFor(path, names), [member]: prompts })).text()
  expect([...text.matchAll(/in \[\d+\] and Document \d+\./g)].map(([words]) => words)).toEqual([
    'in [12] and Document 11.',
    'in [1] and Document 2.',
  ])
})

describe('a conversation that goes on', () => {
  const path = '/v1/chat/completions'
  const answering =
    (content: string) =>
    (response: ServerResponse): void => {
      const message = { role: 'assistant', content }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ index: 0, message }] }))
    }
  const said = 'It is so [1], [2, 3], says document 12.'

  /** Continues a conversation whose documents were moved; returns what the engine got, and the answer to the client. */
  async function goOn(asked: string): Promise<{ first: string[]; shown: string; second: string[]; answer: string }> {
    const shown = contentOf(await ask(path, answering(said)))
    const first = contentsIn(engine.requests.at(-1))
    const { messages } = bodyFor(path, backwards) as { messages: object[] }
    engine.answer(answering('Again [1].'))
    const history = [...messages, { role: 'assistant', content: await shown }, { role: 'user', content: asked }]
    const answer = await contentOf(await postJson(proxy.url + path, { model: 'm', messages: history }))
    return { first, shown: await shown, second: contentsIn(engine.requests.at(-1)), answer }
  }

  async function contentOf(response: Response): Promise<string> {
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    return choices[0]!.message.content
  }

  test('shows the engine its own numbers, in answers and in what the user asks', async () => {
    const { first, shown, second, answer } = await goOn('Quote document 12 and [11].')
    expect(shown).toBe('It is so [12], [11, 10], says document 1.')
    expect(second).toEqual([...first, said, 'Quote document 1 and [2].'])
    expect(answer).toBe('Again [12].')
  })

  test('goes as the client wrote it once blocks are counted', async () => {
    const { first, shown, second, answer } = await goOn('Quote the last document.')
    const [system, user] = (bodyFor(path, backwards) as { messages: { content: string }[] }).messages
    expect(first[1]).not.toBe(user!.content)
    expect(second).toEqual([system!.content, user!.content, shown, 'Quote the last document.'])
    expect(answer).toBe('Again [1].')
  })
})

describe('an answer goes to the client byte for byte', () => {
  const body = bodies['/v1/chat/completions']!(pieces.join(''))
  const writeBody = (answer: ServerResponse): void => {
    answer.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  }

  test('with citations=keep', async () => {
    const response = await ask('/v1/chat/completions', writeBody, { 'x-reprise-options': 'citations=keep' })
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
    expect(await response.text()).toBe(body)
    expect(engine.requests.at(-1)!.headers['accept-encoding']).not.toBe('identity')
  })

  test('when it is asked for as JSON, in a stream too, whose numbers are those that were sent', async () => {
    const rest = { response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } } }
    expect(await (await ask('/v1/chat/completions', writeBody, {}, rest, 0)).text()).toBe(body)
    const stream = vllmChat(pieces)
    const writeStream = (answer: ServerResponse): void => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
    }
    expect(await (await ask('/v1/chat/completions', writeStream, {}, { ...rest, stream: true }, 0)).text()).toBe(stream)
    expect(await metricOf(proxy.adminUrl, 'reprise_citations_remapped_total')).toBe(0)
  })

  test('with citations kept by the configuration, unless the request wants them mapped', async () => {
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url }, { options: 'citations=keep' })
    expect(await (await ask('/v1/chat/completions', writeBody)).text()).toBe(body)
    const remapped = await ask('/v1/chat/completions', writeBody, { 'x-reprise-options': 'citations=remap' })
    expect(await remapped.text()).toBe(bodies['/v1/chat/completions']!(mapped.join('')))
  })

  test.each([
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
  ])('when the engine encodes it as %s whatever it was asked for, which is counted', async (encoding, bytes) => {
    const client = await connectRaw(proxy.url)
    // a first request, so that the next one has blocks to move
    await (await ask('/v1/chat/completions', writeBody)).text()
    engine.answer((answer) => {
      answer.writeHead(200, {
        'content-type': 'application/json',
        'content-encoding': encoding,
        'content-length': bytes.length,
      })
      answer.end(bytes)
    })
    client.write(
      rawPost('/v1/chat/completions', bodyFor('/v1/chat/completions', `${backwards}Z`), ['connection: close']),
    )
    const answer = Buffer.from(await client.ended, 'latin1')
    expect(answer.toString('latin1')).toContain(`content-length: ${bytes.length}\r\n`)
    expect(answer.subarray(answer.indexOf('\r\n\r\n') + 4)).toEqual(bytes)
    expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="encoded_answer"}')).toBe(1)
  })

  test('when it is an error, another type or no JSON', async () => {
    for (const [status, type, text] of [
      [500, 'application/json', '{"choices":[{"message":{"content":"in [1]"}}]}'],
      [200, 'text/plain', 'in [1]'],
      [200, 'application/json', '{"choices":[{"message":{"content":"in [1]'],
    ] as const) {
      const response = await ask('/v1/chat/completions', (answer) =>
        answer.writeHead(status, { 'content-type': type }).end(text),
      )
      expect([response.status, await response.text()]).toEqual([status, text])
    }
  })
})

test('an answer that breaks off gives all there was of it, and is seen to break off', async () => {
  const whole = vllmChat(pieces)
  const until = whole.lastIndexOf('] – 文档 [1')
  const cut = whole.slice(0, until + '] – 文档 [1'.length)
  await (await ask('/v1/chat/completions', (answer) => answer.end('{}'))).text()
  engine.answer((answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write(cut, () => setTimeout(() => answer.destroy(), 50))
  })
  const client = await connectRaw(proxy.url)
  client.write(rawPost('/v1/chat/completions', { ...bodyFor('/v1/chat/completions', `${backwards}Z`), stream: true }))
  const received = Buffer.from(await client.ended, 'latin1').toString()
  expect(received).toContain('\r\n\r\n')
  // without the last chunk of a chunked body, no client takes it for complete
  expect(received).not.toMatch(/\r\n0\r\n\r\n$/)
  const text = [...received.matchAll(/"delta":\{"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join('')
  expect(text).toContain('Ärger 🙂 in [12], [11, 10] and [1')
  // text held back while waiting for the rest of a citation is passed on unchanged
  expect(received).toContain('] – 文档 [1')
})

test('a client that accepts gzip and gets it without a citation to map is left to it', async () => {
  engine.answer((answer, { headers }) => {
    const bytes = gzipSync('{"choices":[]}')
    answer.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-saw': headers['accept-encoding'],
    })
    answer.end(bytes)
  })
  const client = await connectRaw(proxy.url)
  client.write(rawPost('/v1/chat/completions', { messages: [] }, ['connection: close', 'accept-encoding: gzip;q=0.5']))
  const answer = Buffer.from(await client.ended, 'latin1')
  expect(answer.toString('latin1')).toContain('x-saw: gzip;q=0.5\r\n')
  expect(answer.toString('latin1').toLowerCase()).toContain('content-encoding: gzip')
  expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="encoded_answer"}')).toBe(0)
})
