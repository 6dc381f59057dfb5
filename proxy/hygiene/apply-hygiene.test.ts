import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyHygiene, type CleanedBody } from './apply-hygiene.ts'

const all = { sortTools: true, moveVolatileHeaders: true }

function clean(body: unknown, settings = all): (Omit<CleanedBody, 'body'> & { body: unknown }) | undefined {
  const cleaned = applyHygiene(typeof body === 'string' ? body : JSON.stringify(body), settings)
  return cleaned && { ...cleaned, body: JSON.parse(cleaned.body) }
}

const billing = 'x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=0aaa9;'
const tools = [{ name: 'b' }, { name: 'a' }]
const user = { role: 'user', content: 'Current time: 14:03\nHello' }

test('the header of Claude Code moves behind the other parts of the system prompt, which keep their breakpoints', () => {
  const rules = { type: 'text', text: 'You are helpful.', cache_control: { type: 'ephemeral' } }
  const body = { system: [{ type: 'text', text: billing }, rules, rules], messages: [user] }
  expect(clean(body)).toEqual({
    body: { system: [rules, rules, { type: 'text', text: billing }], messages: [user] },
    hasSortedTools: false,
    movedLines: 1,
  })
})

test.each([
  ['system of messages', (text: string) => ({ system: text, messages: [user] })],
  ['instructions of responses', (text: string) => ({ instructions: text, input: 'x' })],
  ['a system message', (text: string) => ({ messages: [{ role: 'system', content: text }, user] })],
  ['a developer message', (text: string) => ({ messages: [{ role: 'developer', content: text }, user] })],
  ['a system item', (text: string) => ({ input: [{ role: 'system', content: [{ type: 'input_text', text }] }] })],
])('volatile lines move to the end of their text: %s', (_, toBody) => {
  const cleaned = clean(toBody('Current time: 14:03\nYou are helpful.\nBe brief.'))
  expect(cleaned).toEqual({
    body: toBody('You are helpful.\nBe brief.\nCurrent time: 14:03'),
    hasSortedTools: false,
    movedLines: 1,
  })
})

test('what users, assistants and tools say is never touched', () => {
  const messages = ['user', 'assistant', 'tool'].map((role) => ({ role, content: 'Current time: 14:03\nHello' }))
  expect(clean({ messages })).toBeUndefined()
})

test('a system prompt with context blocks is left alone: a line behind them would become a part of the last', () => {
  const content = 'Current time: 14:03\n\n[1] The ferry leaves at nine.\n\n[2] Dogs travel free.\n\n[3] Cats do not.'
  expect(clean({ messages: [{ role: 'system', content }, user] })).toBeUndefined()
  const system = [
    { type: 'text', text: billing },
    { type: 'text', text: '<document>\nA\n</document>\n<document>\nB\n</document>' },
  ]
  expect(clean({ system, messages: [user] })).toBeUndefined()
})

test('a part that stands inside of what other parts open and close stays there', () => {
  const system = ['<env>', 'Current time: 14:03', '</env>'].map((text) => ({ type: 'text', text }))
  expect(clean({ system, messages: [user] })).toBeUndefined()
  expect(clean({ system: system.slice(1, 2).concat({ type: 'text', text: 'Help.' }), messages: [user] })).toMatchObject(
    {
      movedLines: 1,
    },
  )
})

test('each can be turned off', () => {
  const body = { tools, system: `${billing}\nYou are helpful.`, messages: [user] }
  expect(clean(body)).toMatchObject({ hasSortedTools: true, movedLines: 1 })
  expect(clean(body, { ...all, sortTools: false })).toMatchObject({ hasSortedTools: false, movedLines: 1 })
  expect(clean(body, { ...all, moveVolatileHeaders: false })).toMatchObject({ hasSortedTools: true, movedLines: 0 })
  expect(clean(body, { sortTools: false, moveVolatileHeaders: false })).toBeUndefined()
})

test.each([
  '{}',
  '{"tools":null,"messages":null}',
  '{"tools":{},"messages":{"role":"system"},"system":7}',
  '{"messages":[1,null,"x",{"role":"system"},{"role":"system","content":null},{"content":"x"}]}',
  '{"messages":[{"role":"system","content":[1,null,{"type":"text"},{"type":"text","text":7},[]]}]}',
  '{"system":[],"input":"x"}',
  ' {"messages" : [ ] } ',
])('a body of an unexpected shape stays as it is: %s', (json) => {
  expect(applyHygiene(json, all)).toBeUndefined()
})

const line = fc.constantFrom(billing, 'Current time: 14:03', 'You are helpful.', '', '<env>', '</env>', '```', 'ü "x"')
const text = fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n'))
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('text'), text, cache_control: fc.constant({ type: 'ephemeral' }) }),
  fc.record({ type: fc.constant('image'), source: fc.string() }),
)
const content = fc.oneof(text, fc.array(part, { maxLength: 4 }))
const body = fc.record({
  tools: fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c') }), { maxLength: 3 }),
  system: content,
  messages: fc.array(fc.record({ role: fc.constantFrom('system', 'user'), content }), { maxLength: 3 }),
})

/** All lines and values of a body, in no order. */
function inventory(value: unknown): string[] {
  if (typeof value === 'string') return value.split('\n')
  if (typeof value !== 'object' || value === null) return [String(value)]
  return Object.entries(value).flatMap(([key, inner]) => [Array.isArray(value) ? '' : key, ...inventory(inner)])
}

test('nothing is lost or made: the same lines and values, and the same number of characters', () => {
  fc.assert(
    fc.property(body, fc.constantFrom('', ' ', '\n\t'), (object, space) => {
      const json = JSON.stringify(object, null, space)
      const cleaned = applyHygiene(json, all)
      if (!cleaned) return
      expect(cleaned.body.length).toBe(json.length)
      expect(cleaned.body).not.toBe(json)
      expect(inventory(JSON.parse(cleaned.body)).toSorted()).toEqual(inventory(object).toSorted())
    }),
    { numRuns: 1000 },
  )
})

test('done twice it is the same as once', () => {
  fc.assert(
    fc.property(body, (object) => {
      const once = applyHygiene(JSON.stringify(object), all)
      if (once) expect(applyHygiene(once.body, all)).toBeUndefined()
    }),
    { numRuns: 1000 },
  )
})
