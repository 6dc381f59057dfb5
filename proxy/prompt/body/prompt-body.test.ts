import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson, writeTexts } from './prompt-body.fixture.ts'
import { explicitSplices, memberSplices, type PromptBody, writeBody } from './prompt-body.ts'

const readChatBody = (body: string): PromptBody | undefined => readJson('chat_completions', body)
const textsOf = (body: PromptBody): string[] => body.set!.texts.map(({ text }) => text)

test('reading and writing without a change gives the same text', () => {
  const content = fc.oneof(
    fc.string(),
    fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
    fc.constant(null),
  )
  const message = fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content,
    tool_calls: fc.constant(null),
  })
  const body = fc
    .tuple(
      fc.array(message, { minLength: 1 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom('', ' ', '\n  '),
    )
    .map(([messages, rest, space]) => JSON.stringify({ ...rest, reprise: undefined, messages }, null, space))
  fc.assert(
    fc.property(body, (json) => {
      const chat = readChatBody(json)!
      expect(writeTexts(chat, textsOf(chat))).toBe(json)
    }),
  )
})

test('a changed text is spliced in and everything else stays as it was written', () => {
  const body =
    '{"seed":12345678901234567890, "temperature":1.0,\n"messages":[{"role":"system","content":"caf\\u00e9"},' +
    '{"content":[{"type":"image_url","image_url":{"url":"data:,"}},{"text":"old","type":"text"}],"role":"user","tool_calls":null}],"seed":2e1}'
  const chat = readChatBody(body)!
  expect(textsOf(chat)).toEqual(['café', 'old'])
  expect(writeTexts(chat, ['café', 'new "text"'])).toBe(body.replace('"old"', '"new \\"text\\""'))
})

test('of duplicate keys the last counts, as for the engine', () => {
  const body = '{"messages":[],"messages":[{"role":"user","content":"a","content":"b"}]}'
  const chat = readChatBody(body)!
  expect(writeTexts(chat, ['c'])).toBe('{"messages":[],"messages":[{"role":"user","content":"a","content":"c"}]}')
})

test('lone surrogates survive', () => {
  const body = '{"messages":[{"role":"user","content":"\\ud800 x"}]}'
  const chat = readChatBody(body)!
  expect(writeTexts(chat, [`${textsOf(chat)[0]!}!`])).toBe('{"messages":[{"role":"user","content":"\\ud800 x!"}]}')
})

test('valid JSON of another shape is not a chat', () => {
  for (const body of [
    '[]',
    '1',
    '{}',
    '{"messages":[]}',
    '{"messages":[1]}',
    '{"messages":[{"role":1}]}',
    '{"messages":{}}',
  ]) {
    expect(readChatBody(body)?.set).toBeUndefined()
  }
})

test('malformed JSON is an error that says so', () => {
  expect(() => readChatBody('{"messages":[')).toThrow(/not valid JSON/)
})

test.each([
  ['{"reprise":1,"messages":[{"role":"user","content":"x"}]}', /'reprise' must be object/],
  [
    '{"reprise":{"blocks":[{}]},"messages":[{"role":"user","content":"x"}]}',
    /'reprise\/blocks\/0' must have required property 'text'/,
  ],
  [
    '{"reprise":{"block":[]},"messages":[{"role":"user","content":"x"}]}',
    /'reprise' has the member 'block', which is not known/,
  ],
  [
    '{"reprise":{"options":{"reorder":"maybe"}},"messages":[{"role":"user","content":"x"}]}',
    /'reorder=maybe' is not an option/,
  ],
  ['{"reprise":{"blocks":[]}}', /needs a prompt/],
])('a reprise field that breaks its schema is an error: %s', (body, message) => {
  expect(() => readChatBody(body)).toThrow(message)
})

test('members are set in the place of the one there is, or in front', () => {
  const set = (json: string, members: Record<string, string>): string => {
    const prompt = readChatBody(json)!
    return writeBody(prompt, [...explicitSplices(prompt), ...memberSplices(prompt, members)]).toString()
  }
  expect(set('{"a":1,"cache_salt":"x"}', { cache_salt: 'ß', rid: 'r' })).toBe('{"rid":"r","a":1,"cache_salt":"ß"}')
  // an engine may use either of the two
  expect(set('{"rid":1,"rid":[2]}', { rid: 'r' })).toBe('{"rid":"r","rid":"r"}')
  expect(set(' {} ', { rid: 'r' })).toBe(' {"rid":"r"} ')
  const messages = '"messages":[{"role":"user","content":"é"}]'
  expect(set(`{"reprise":{},${messages}}`, { rid: 'r' })).toBe(`{"rid":"r",${messages}}`)
})
