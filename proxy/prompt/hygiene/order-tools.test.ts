import fc from 'fast-check'
import { expect, test } from 'vitest'
import { elementSpans, memberSpans } from '../../common/json/json-spans.ts'
import { orderTools } from './order-tools.ts'

function ordered(json: string): string {
  return orderTools(json) ?? json
}

function namesOf(json: string): unknown[] {
  const { tools } = JSON.parse(json) as { tools: { name?: string; function?: { name: string } }[] }
  return tools.map((tool) => tool.function?.name ?? tool.name)
}

const chatTool = (name: string): object => ({ type: 'function', function: { name, parameters: { type: 'object' } } })

test('tools of chat completions are put in the order of their names', () => {
  const json = JSON.stringify({ model: 'm', tools: ['search', 'add', 'fetch'].map(chatTool) })
  expect(namesOf(ordered(json))).toEqual(['add', 'fetch', 'search'])
})

test('tools of responses and of Anthropic are ordered by type, then name, then server label', () => {
  const tools = [
    { type: 'mcp', server_label: 'b' },
    { type: 'web_search' },
    { type: 'function', name: 'z' },
    { type: 'mcp', server_label: 'a' },
    { name: 'custom', input_schema: {} },
    { type: 'function', name: 'a' },
  ]
  const json = ordered(JSON.stringify({ tools }))
  expect((JSON.parse(json) as { tools: unknown[] }).tools).toEqual([
    { name: 'custom', input_schema: {} },
    { type: 'function', name: 'a' },
    { type: 'function', name: 'z' },
    { type: 'mcp', server_label: 'a' },
    { type: 'mcp', server_label: 'b' },
    { type: 'web_search' },
  ])
})

test('whitespace, number forms and escapes stay as the client wrote them, separators where they stood', () => {
  const json = '{"tools" : [ {"name":"b","n":1.0} ,\n\t{"name" : "\\u0061", "n":1e2}  ], "x":1}'
  expect(ordered(json)).toBe('{"tools" : [ {"name" : "\\u0061", "n":1e2} ,\n\t{"name":"b","n":1.0}  ], "x":1}')
})

test.each([
  ['one carries cache_control', [{ name: 'b' }, { name: 'a', cache_control: { type: 'ephemeral' } }]],
  [
    'the function of one carries cache_control',
    [chatTool('b'), { type: 'function', function: { name: 'a', cache_control: {} } }],
  ],
  ['two share a name, of which an engine takes the first or the last', [{ name: 'b' }, { name: 'a' }, { name: 'b' }]],
  ['one is no object', [{ name: 'b' }, 'a']],
  ['they are in order', [{ name: 'a' }, { name: 'b' }]],
  ['two are the same', [{ type: 'web_search' }, { type: 'web_search' }]],
  ['there is only one', [{ name: 'a' }]],
  ['there is none', []],
])('tools are left alone when %s', (_, tools) => {
  expect(orderTools(JSON.stringify({ tools }))).toBeUndefined()
})

test.each(['{}', '{"tools":null,"messages":null}', '{"tools":{},"messages":{"role":"system"},"system":7}', ' {} '])(
  'a body of an unexpected shape stays as it is: %s',
  (json) => {
    expect(orderTools(json)).toBeUndefined()
  },
)

const tool = fc.oneof(
  fc.record({
    type: fc.constantFrom('function', 'mcp'),
    name: fc.string({ maxLength: 3 }),
    n: fc.jsonValue({ maxDepth: 1 }),
  }),
  fc.record({ function: fc.record({ name: fc.constantFrom('a', 'b', 'ä', 'B', '') }) }),
  fc.record({ type: fc.constantFrom('web_search', 'file_search'), strings: fc.array(fc.string()) }),
)
const body = fc
  .tuple(fc.array(tool, { maxLength: 6 }), fc.constantFrom('', ' ', '\r\n\t'))
  .map(([tools, space]) => JSON.stringify({ a: 1, tools, messages: [] }, null, space))

function elementsOf(json: string): string[] {
  const { start } = memberSpans(json, 0).get('tools')!
  return elementSpans(json, start).map((span) => json.slice(span.start, span.end))
}

test('what is sent is a permutation of the tools, byte for byte, and nothing else changes', () => {
  fc.assert(
    fc.property(body, (json) => {
      const sent = ordered(json)
      expect(elementsOf(sent).toSorted()).toEqual(elementsOf(json).toSorted())
      const before = memberSpans(json, 0).get('tools')!
      const after = memberSpans(sent, 0).get('tools')!
      expect(after).toEqual(before)
      expect(sent.slice(0, after.start) + sent.slice(after.end)).toBe(
        json.slice(0, before.start) + json.slice(before.end),
      )
    }),
  )
})

test('the order is stable: it does not depend on the one received, and ordering it again changes nothing', () => {
  fc.assert(
    fc.property(
      fc
        .uniqueArray(tool, { maxLength: 6, selector: (one) => JSON.stringify(one) })
        .chain((tools) =>
          fc.tuple(
            fc.constant(tools),
            fc.shuffledSubarray(tools, { minLength: tools.length, maxLength: tools.length }),
          ),
        ),
      ([tools, shuffled]) => {
        const json = JSON.stringify({ tools })
        const sent = ordered(json)
        expect(orderTools(sent)).toBeUndefined()
        // what is left alone in one order is left alone in all
        if (sent !== json) expect(ordered(JSON.stringify({ tools: shuffled }))).toBe(sent)
      },
    ),
    { numRuns: 1000 },
  )
})
