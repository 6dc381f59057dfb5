import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, postJson, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

test.each(['vllm', 'sglang'] as const)(
  'no caller of %s has another’s salt, however often it names one',
  async (kind) => {
    proxy = await startTestProxy({ url: engine.url, kind })
    const send = async (key: string, members: string): Promise<string> => {
      const body = `{${members}"model":"m","messages":[{"role":"user","content":"hi"}]}`
      const headers = { authorization: `Bearer ${key}` }
      expect((await postJson(`${proxy.url}/v1/chat/completions`, body, { headers })).status).toBe(200)
      return engine.requests.at(-1)!.body.toString()
    }
    const victim = JSON.parse(await send('victim', '')).cache_salt as string
    const own = JSON.parse(await send('attacker', '')).cache_salt as string
    expect(own).not.toBe(victim)
    const stolen = JSON.stringify(victim)
    for (const members of [
      `"cache_salt":${stolen},`,
      `"cache_salt":${stolen},"cache_salt":${stolen},`,
      `"cache_salt":"x","cache_salt":${stolen},`,
      `"cache_salt":${stolen},"cache_salt":"x",`,
      `"cache_salt":${stolen},"cache_salt":null,`,
      `"cache_salt":null,"cache_salt":${stolen},"a":{"cache_salt":1},`,
      `"cache\\u005fsalt":${stolen},`,
      `"cache_salt":"x","cache\\u005fsalt":${stolen},`,
    ]) {
      const sent = await send('attacker', members)
      // the value seen by a parser for which the last duplicate counts, such as Python's
      expect(JSON.parse(sent).cache_salt).toMatch(/^[\w-]{43}$/)
      expect(JSON.parse(sent).cache_salt).not.toBe(victim)
    }
  },
)

test.each([
  ['a header that calls JSON compressed', '/v1/chat/completions', 'br'],
  ['an encoding in capitals', '/v1/chat/completions', 'IDENTITY'],
  ['an escaped path', '/v1/chat%2Fcompletions', undefined],
  ['a path of which everything is escaped', '/%76%31/%63hat%2fcompletions', undefined],
])('nor by %s', async (_, path, encoding) => {
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm' })
  const headers = encoding === undefined ? {} : { 'content-encoding': encoding }
  const body = { cache_salt: 'stolen', model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  expect((await postJson(`${proxy.url}${path}`, body, { headers })).status).toBe(200)
  const { url, body: sent } = engine.requests.at(-1)!
  expect(url).toBe(path)
  expect(JSON.parse(sent.toString()).cache_salt).toMatch(/^[\w-]{43}$/)
})

/** Other ways to write a body that Python's JSON reader takes. */
const forPython: [string, (text: string) => Buffer][] = [
  ['a number that is none', (text) => Buffer.from(text.replace('{', '{"x":NaN,'))],
  ['UTF-16', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16, high bytes first', (text) => Buffer.from(text, 'utf16le').swap16()],
  ['UTF-32', (text) => Buffer.from(Uint32Array.from([...text], (sign) => sign.codePointAt(0)!).buffer)],
]

test.each(forPython)('nor by JSON that only Python reads, called compressed or not: %s', async (_, write) => {
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm' })
  const text = JSON.stringify({ cache_salt: 'stolen', model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  for (const headers of [{}, { 'content-encoding': 'x' }, { 'content-encoding': 'gzip' }]) {
    for (const spaces of ['', ' \n'.repeat(10_000)]) {
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
        body: write(spaces + text),
      })
      expect([answer.status, (await errorOf(answer)).code]).toEqual([400, 'invalid_body'])
    }
  }
  expect(engine.requests).toEqual([])
})

test('a compressed body goes to the engine as it came', async () => {
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm' })
  for (const [encoding, compress] of Object.entries({ gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync })) {
    const body = compress(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }))
    const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body,
    })
    expect(answer.headers.get('x-reprise-skipped')).toBe('encoded_body')
    expect(engine.requests.at(-1)!.body.equals(body)).toBe(true)
  }
})

const chats = ['/v1/chat/completions', '/v1/messages']
const passed = [
  '/v1/embeddings',
  '/rerank',
  '/v1/score',
  '/classify',
  '/pooling',
  '/tokenize',
  '/v1/messages/count_tokens',
]

test.each(['vllm', 'sglang'] as const)('what docs/security.md says of paths and salts is so: %s', async (kind) => {
  proxy = await startTestProxy({ url: engine.url, kind })
  const send = async (path: string, body: string): Promise<string> => {
    expect((await postJson(proxy.url + path, body)).status).toBe(200)
    return engine.requests.at(-1)!.body.toString()
  }
  for (const path of [...chats, '/v1/completions', '/v1/responses', '/generate']) {
    const prompt = { messages: [{ role: 'user', content: 'hi' }], prompt: 'hi', input: 'hi', text: 'hi', max_tokens: 1 }
    const { cache_salt: salt } = JSON.parse(await send(path, JSON.stringify({ model: 'm', ...prompt })))
    expect({ path, salt }).toEqual({ path, salt: expect.stringMatching(/^[\w-]{43}$/) })
  }
  for (const path of passed) {
    for (const body of ['{"input": "hi"}', '{"input": "hi", "cache_salt": "own"}']) {
      expect({ path, body: await send(path, body) }).toEqual({ path, body })
    }
  }
})
