import { expect, test } from 'vitest'
import { type BoundedBody, readWithinLimits } from './read-received.ts'

const limits = { bytes: 1_000_000, texts: 1_000, milliseconds: 50 }

async function read(body: string | object, isEncoded = false): Promise<BoundedBody> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const options = { isEncoded, hygiene: undefined, limits, turns: { take: async () => {} } }
  return readWithinLimits('chat_completions', bytes, options)
}

const message = { role: 'user', content: 'h' }
const wide = (count: number): object[] => Array.from({ length: count }, () => ({}))

test.each([
  ['more bytes', { model: 'm', messages: [{ role: 'user', content: 'word '.repeat(250_000) }] }],
  ['more objects', { model: 'm', messages: [message], tools: wide(11_000) }],
  ['more strings', { model: 'm', messages: [message], metadata: Array.from({ length: 70_000 }, () => '') }],
  ['deeper', `{"model":"m","messages":[{"role":"user","content":"h"}],"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`],
  ['more lines', { model: 'm', messages: [{ role: 'user', content: '\n'.repeat(140_000) }] }],
])('a body with %s than can be read at once is left whole', async (_, body) => {
  const { received } = await read(body)
  expect(received).toMatchObject({ prompt: undefined, skipped: 'too_large_to_rewrite' })
  expect(received.whole?.members).toEqual({ model: 'm' })
  expect(received.scan?.digest()).toHaveLength(43)
})

test('more messages than can be rewritten are read, and left as they are', async () => {
  const { received } = await read({ messages: Array.from({ length: 1_001 }, () => message) })
  expect(received).toMatchObject({ skipped: 'too_large_to_rewrite', prompt: { set: undefined } })
  expect((await read({ messages: Array.from({ length: 1_000 }, () => message) })).received.skipped).toBeUndefined()
})

test('a large body that is no JSON is refused, and one that is encoded is not looked into', async () => {
  await expect(read(`{"messages":"${'a'.repeat(1_000_001)}`)).rejects.toMatchObject({ code: 'invalid_body' })
  expect((await read(`\u001f${'{'.repeat(1_000_001)}`, true)).received.skipped).toBe('encoded_body')
})

test.each(['utf16le', 'utf8'] as const)('a large body in %s that only Python reads is refused', async (encoding) => {
  const members = encoding === 'utf8' ? '"x":NaN,"y":' : `"y":"${'a'.repeat(1_000_001)}"}`
  const bytes = Buffer.from(`\uFEFF{"cache_salt":"stolen",${members}`, encoding)
  const options = { hygiene: undefined, limits: { ...limits, bytes: 1 }, turns: { take: async () => {} } }
  for (const isEncoded of [false, true]) {
    const reading = readWithinLimits('chat_completions', bytes, { ...options, isEncoded })
    await expect(reading).rejects.toMatchObject({ code: 'invalid_body' })
  }
})

test('what is encoded in name alone is left whole, too: an engine may read it', async () => {
  const { received } = await read({ messages: [message], x: 'a'.repeat(1_000_001) }, true)
  expect(received.whole).toBeDefined()
})

test('blocks beside a body that is too large are refused: an engine does not know them', async () => {
  const reprise = { blocks: [{ text: 'a' }] }
  await expect(read({ messages: [message], reprise, x: 'a'.repeat(1_000_001) })).rejects.toMatchObject({
    code: 'body_too_large',
  })
  const many = { blocks: Array.from({ length: 1_001 }, () => ({ text: 'a' })) }
  const place = { ...message, content: '{{context}}' }
  await expect(read({ messages: [place], reprise: many })).rejects.toMatchObject({ code: 'body_too_large' })
  const messages = Array.from({ length: 1_001 }, () => place)
  await expect(read({ messages, reprise })).rejects.toMatchObject({ code: 'body_too_large' })
})

test('a field that is none is refused as in a small body', async () => {
  for (const padding of ['', 'a'.repeat(1_000_001)]) {
    const refused = expect(read({ messages: [message], reprise: null, x: padding })).rejects
    await refused.toMatchObject({ code: 'invalid_body', message: "'reprise' must be object." })
  }
})

test.each(['{"a":[1,2}', '{"a":1}}', '{"a":"b', '{"a":1} {'])(
  '%s in a large body is told of as what it is',
  async (json) => {
    await expect(read(json.replace('{', `{"x":"${'a'.repeat(1_000_001)}",`))).rejects.toMatchObject({
      code: 'invalid_body',
      message: 'The request body is not valid JSON: its quotes and brackets do not pair up.',
    })
  },
)

test.each(['prompt', 'input_ids'])('ids of tokens in %s are left whole, for being ids', async (name) => {
  const ids = Array.from({ length: 200_000 }, (_, i) => i % 50_000)
  for (const value of [ids, [ids]]) {
    const { received } = await read({ model: 'm', [name]: value })
    expect(received).toMatchObject({ prompt: undefined, skipped: 'token_ids' })
  }
})

test('a list of prompts is known by no bytes: each is a prompt of its own', async () => {
  const body = Buffer.from(JSON.stringify({ prompt: ['a'.repeat(1_000_001), 'b'] }))
  const options = { isEncoded: false, hygiene: undefined, limits, turns: { take: async () => {} } }
  const { received } = await readWithinLimits('completions', body, options)
  expect(received).toMatchObject({ skipped: 'too_large_to_rewrite' })
  expect(received.scan).toBeUndefined()
})

test('only a body that takes long to decide about waits for others', async () => {
  expect((await read({ messages: [message] })).isHeavy).toBe(false)
  expect((await read({ messages: [{ role: 'user', content: 'a'.repeat(300_000) }] })).isHeavy).toBe(true)
  expect((await read({ messages: [message], tools: wide(6_000) })).isHeavy).toBe(true)
})
