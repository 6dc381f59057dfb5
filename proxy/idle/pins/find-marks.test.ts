import { expect, test } from 'vitest'
import type { Json } from '#engine-adapters/json-object.ts'
import { findMarks } from './find-marks.ts'

const mark = (ttl?: string): Json => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
const text = (words: string, rest: Json = {}): Json => ({ type: 'text', text: words, ...rest })
const user = (...content: Json[]): Json => ({ role: 'user', content })
const marksOf = (body: Json, tenant = 't') => findMarks(tenant, 'messages', body).marks
const prefixOf = (body: Json, tenant?: string): string => marksOf(body, tenant)[0]!.prefix

test('a prompt up to a mark is the same whatever follows, wherever other marks are, and for nobody else', () => {
  const [documents, question] = [text('documents', mark()), text('Who?')]
  const prefix = prefixOf({ messages: [user(documents, question)] })
  expect(prefixOf({ messages: [user(documents, text('When?')), { role: 'assistant', content: 'x' }] })).toBe(prefix)
  expect(prefixOf({ max_tokens: 9, messages: [user(documents)] })).toBe(prefix)
  const wandered = findMarks('t', 'messages', { messages: [user(text('documents'), text('When?', mark()))] })
  expect(wandered.prefixes).toContain(prefix)
  const others = [
    { model: 'm' },
    { cache_salt: 's' },
    { system: 'be brief' },
    { tool_choice: { type: 'none' } },
    { chat_template_kwargs: { enable_thinking: false } },
  ]
  for (const other of others) expect(prefixOf({ ...other, messages: [user(documents)] })).not.toBe(prefix)
  const beside = { kv_transfer_params: { reprise: { borders: [7] } }, safety_identifier: 'user', temperature: 1 }
  expect(prefixOf({ ...beside, messages: [user(documents)] })).toBe(prefix)
  expect(prefixOf({ messages: [{ ...user(documents), role: 'assistant' }] })).not.toBe(prefix)
  expect(prefixOf({ messages: [user(documents)] }, 'other')).not.toBe(prefix)
})

test('5m is the standard, and a mark that another outlives behind it is none of its own', () => {
  const parts = (...ttl: (string | undefined)[]): Json => ({
    messages: [user(...ttl.map((own) => text('x', mark(own))))],
  })
  const seconds = (body: Json): number[] => marksOf(body).map((own) => own.seconds)
  expect(seconds(parts(undefined))).toEqual([300])
  expect(seconds(parts('1h', '5m', undefined))).toEqual([3_600, 300])
  expect(seconds(parts('5m', '1h'))).toEqual([3_600])
  for (const other of ['2d', 'constructor', '__proto__']) expect(seconds(parts(other))).toEqual([])
  const number = { cache_control: { type: 'ephemeral', ttl: 5 } }
  expect(marksOf({ messages: [user(text('x', number))] })).toEqual([])
  const said = (...marks: unknown[]): number =>
    findMarks('t', 'messages', { messages: [user(...marks.map((cache_control) => text('x', { cache_control })))] })
      .unknown
  expect(said({ type: 'ephemeral', ttl: '2d' }, 'ephemeral', { type: 'forever' }, { type: 'ephemeral' }, null)).toBe(3)
  expect(findMarks('t', 'messages', { cache_control: 'yes', messages: [user(text('x'))] }).unknown).toBe(1)
})

test.each<[string, Json, number]>([
  ['a tool', { tools: [{ name: 'a', ...mark() }], messages: [user(text('x'.repeat(40)))] }, 0.2],
  ['a tool result itself', { messages: [user({ type: 'tool_result', content: 'x', ...mark() })] }, 1],
  ['a function', { tools: [{ type: 'function', function: { name: 'a', ...mark() } }], messages: [] }, 1],
  ['the system text', { system: [text('x', mark())], messages: [user(text('y'))] }, 0.5],
  ['a message', { messages: [{ role: 'user', content: 'x', ...mark() }, user(text('y'))] }, 0.5],
  ['a message of calls alone', { messages: [{ role: 'assistant', tool_calls: [{ id: 'x' }], ...mark() }] }, 1],
  ['a tool result', { messages: [user({ type: 'tool_result', content: [text('x', mark())] })] }, 1],
  ['the whole body', { ...mark(), messages: [user(text('x'))] }, 1],
])('a mark of %s is found, with the share in front of it', (_, body, least) => {
  const [found] = marksOf(body)
  expect(found!.seconds).toBe(300)
  expect(found!.share).toBeGreaterThanOrEqual(least - 0.2)
  expect(found!.share).toBeLessThanOrEqual(least === 1 ? 1 : least + 0.2)
})

test('a prompt of very many parts has no marks, since each costs a digest', () => {
  const parts = (length: number): Json => ({ messages: [user(...Array.from({ length }, () => text('x', mark())))] })
  expect(marksOf(parts(511))).toHaveLength(1)
  expect(findMarks('t', 'messages', parts(512))).toEqual({ marks: [], prefixes: new Set(), unknown: 0 })
})

test('Chat Completions have no member of their own for the system text', () => {
  const body = { system: [text('x', mark())], messages: [user(text('y'))] }
  expect(findMarks('t', 'chat_completions', body).marks).toEqual([])
})

test('what only looks like a mark, or stands elsewhere, is none, and is part of the prompt', () => {
  const call = (input: Json): Json => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'c', name: 'a', input }],
  })
  const schema = { properties: { cache_control: { type: 'string' } } }
  const bodies: Json[] = [
    { tools: [{ name: 'a', input_schema: schema }], messages: [user(text('"cache_control":{"type":"ephemeral"}'))] },
    { tools: [{ type: 'function', function: { name: 'a', parameters: schema } }], messages: [user(text('x'))] },
    { tools: [{ name: 'a', input_schema: mark() }], messages: [user(text('x'))] },
    { messages: [call(mark())] },
    { messages: [call({ deep: [mark()] })] },
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', ...mark() }] }, user(text('x'))] },
    { messages: [user({ type: 'image', source: mark() }), user({ type: 'text', text: 'x', content: [mark()] })] },
    { messages: [user({ type: 'tool_result', content: [{ type: 'text', text: 'x', citations: [mark()] }] })] },
    { tool_choice: mark(), messages: [user(text('x'))] },
    { messages: [user(text('x', { cache_control: null }))] },
    { messages: 'x', system: 3, tools: {} },
    {},
  ]
  for (const api of ['messages', 'chat_completions'] as const)
    for (const body of bodies) expect(findMarks('t', api, body)).toMatchObject({ marks: [], unknown: 0 })
  const asSent = { messages: [user({ type: 'tool_result', content: [text('x', mark())] }), call(mark())] }
  const copy = structuredClone(asSent)
  expect(marksOf(asSent)).toHaveLength(1)
  expect(asSent).toEqual(copy)
  const prefixesOf = (input: Json): ReadonlySet<string> =>
    findMarks('t', 'messages', { messages: [call(input)] }).prefixes
  expect(prefixesOf(mark())).not.toEqual(prefixesOf({}))
  expect(prefixesOf(mark())).not.toEqual(prefixesOf(mark('1h')))
})
