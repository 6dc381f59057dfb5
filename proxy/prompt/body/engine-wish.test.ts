import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPromptBody } from '../formats/read-prompt-body.ts'
import { type EngineWish, writeWish } from './engine-wish.ts'
import { memberSplices, writeBody } from './prompt-body.ts'

function write(json: string, reuse: 'off' | number): string {
  return writeInto(json, { member: 'kv_transfer_params', own: 'reprise', value: { reuse } })
}

function writeInto(json: string, wish: EngineWish): string {
  const prompt = readPromptBody('chat_completions', Buffer.from(json))!
  const { members, splices } = writeWish(prompt, wish)
  return writeBody(prompt, [...memberSplices(prompt, { cache_salt: 's', ...members }), ...splices]).toString()
}

const salt = '"cache_salt":"s"'

test.each([
  ['{"a":1}', `{${salt},"kv_transfer_params":{"reprise":{"reuse":"off"}},"a":1}`],
  ['{ }', `{${salt},"kv_transfer_params":{"reprise":{"reuse":"off"}} }`],
  ['{"kv_transfer_params":null}', `{${salt},"kv_transfer_params":{"reprise":{"reuse":"off"}}}`],
  ['{"kv_transfer_params": {}}', `{${salt},"kv_transfer_params": {"reprise":{"reuse":"off"}}}`],
  [
    '{"kv_transfer_params": { "x" : 1.00, "é":[2]}}',
    `{${salt},"kv_transfer_params": {"reprise":{"reuse":"off"}, "x" : 1.00, "é":[2]}}`,
  ],
])('a wish is put into a body: %s', (json, expected) => {
  expect(write(json, 'off')).toBe(expected)
})

test.each(['{"reprise":{"reuse":0.5}}', '{"a":1,"reprise":null}', '{"\\u0072eprise":{}}', '[1]', '"x"', '7'])(
  'what the client has said itself stays: %s',
  (value) => {
    expect(write(`{"kv_transfer_params":${value}}`, 'off')).toBe(`{${salt},"kv_transfer_params":${value}}`)
  },
)

test.each([
  ['{"a":1}', `{${salt},"custom_params":{"reprise":{"reuse":0.5},"reprise_pages":0.25},"a":1}`],
  ['{"custom_params":{}}', `{${salt},"custom_params":{"reprise":{"reuse":0.5},"reprise_pages":0.25}}`],
  [
    '{"custom_params":{"reprise":{"reuse":1.0},"x":2}}',
    `{${salt},"custom_params":{"reprise_pages":0.25,"reprise":{"reuse":1.0},"x":2}}`,
  ],
  ['{"custom_params":{"reprise_pages":1}}', `{${salt},"custom_params":{"reprise":{"reuse":0.5},"reprise_pages":1}}`],
])('two wishes in one member of %j are written as one', (json, expected) => {
  const wish = { member: 'custom_params', own: 'reprise', value: { reuse: 0.5 }, also: { reprise_pages: 0.25 } }
  expect(writeInto(json, wish)).toBe(expected)
})

test.each([
  ['{"a":1}', `{${salt},"vllm_xargs":{"reprise_pages":0.25},"a":1}`],
  ['{"vllm_xargs":{"x":"y"}}', `{${salt},"vllm_xargs":{"reprise_pages":0.25,"x":"y"}}`],
  ['{"vllm_xargs":{"reprise_pages":1}}', `{${salt},"vllm_xargs":{"reprise_pages":1}}`],
])('a share of pages is put into a body: %s', (json, expected) => {
  expect(writeInto(json, { member: 'vllm_xargs', own: 'reprise_pages', value: 0.25 })).toBe(expected)
})

test('of two the one counts that an engine takes for true: both bear the wish', () => {
  const sent = write('{"kv_transfer_params":{"x":1},"kv_transfer_params":null}', 0.5)
  expect(sent.match(/"reprise":\{"reuse":0\.5\}/g)).toHaveLength(2)
})

test.each([
  ['{"a":1}', `{${salt},"kv_transfer_params":{"reprise":{"reuse":0.5,"user":"u"}},"a":1}`],
  ['{"kv_transfer_params":{"x":1.0}}', `{${salt},"kv_transfer_params":{"reprise":{"reuse":0.5,"user":"u"},"x":1.0}}`],
  [
    '{"kv_transfer_params":{"reprise":{"reuse": 1.0}}}',
    `{${salt},"kv_transfer_params":{"reprise":{"user":"u","reuse": 1.0}}}`,
  ],
  ['{"kv_transfer_params":{"reprise":null}}', `{${salt},"kv_transfer_params":{"reprise":{"user":"u"}}}`],
  ['{"kv_transfer_params":{"reprise":[7]}}', `{${salt},"kv_transfer_params":{"reprise":[7]}}`],
  [
    '{"kv_transfer_params":{"reprise":{"user":"me","\\u0075ser":null},"reprise":{}}}',
    `{${salt},"kv_transfer_params":{"reprise":{"user":"u","\\u0075ser":"u"},"reprise":{"user":"u"}}}`,
  ],
])('what must be set replaces what the client has written, and nothing else: %s', (json, expected) => {
  const wish = { member: 'kv_transfer_params', own: 'reprise', value: { reuse: 0.5 }, set: { user: 'u' } }
  expect(writeInto(json, wish)).toBe(expected)
})

/** Returns an object with these members, each written as it is. */
function objectOf(...members: readonly string[]): string {
  return `{${members.filter((text) => text !== '').join(',')}}`
}

test('all else stays as it was, whatever it is', () => {
  const members = fc
    .dictionary(
      fc.string().filter((key) => key !== 'kv_transfer_params' && key !== 'reprise'),
      fc.jsonValue(),
    )
    .map((object) => JSON.stringify(object).slice(1, -1))
  fc.assert(
    fc.property(members, members, (rest, params) => {
      const sent = write(objectOf(rest, `"kv_transfer_params":${objectOf(params)}`), 0.25)
      // as text: JSON.parse of Node 24 may read the key "\"" as "\\" (https://github.com/nodejs/node/issues/63785)
      const expected = `"kv_transfer_params":${objectOf('"reprise":{"reuse":0.25}', params)}`
      expect(sent).toBe(objectOf(salt, rest, expected))
    }),
  )
})
