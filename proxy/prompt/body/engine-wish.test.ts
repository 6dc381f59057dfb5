import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memberSplices, readPromptBody, writeBody } from '../prompt-body.ts'
import { type EngineWish, writeWish } from './engine-wish.ts'

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

test('all else stays as it was, whatever it is', () => {
  const object = fc.dictionary(
    fc.string().filter((key) => key !== '__proto__' && key !== 'reprise'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(object, object, (rest, params) => {
      const sent = JSON.parse(write(JSON.stringify({ ...rest, kv_transfer_params: params }), 0.25))
      const expected = { ...rest, kv_transfer_params: { ...params, reprise: { reuse: 0.25 } }, cache_salt: 's' }
      expect(sent).toEqual(JSON.parse(JSON.stringify(expected)))
    }),
  )
})
