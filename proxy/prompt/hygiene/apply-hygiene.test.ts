import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyHygiene } from './apply-hygiene.ts'

const sorting = { sort_tools: true }

test('tools are sorted where it is configured, and nothing else changes', () => {
  const json = '{ "tools" : [{"name":"b"} , {"name":"a"}], "system":"Current time: 14:03\\nBe kind.", "seed": 1.0 }'
  expect(applyHygiene(json, sorting)).toBe(
    '{ "tools" : [{"name":"a"} , {"name":"b"}], "system":"Current time: 14:03\\nBe kind.", "seed": 1.0 }',
  )
  expect(applyHygiene(json, { sort_tools: false })).toBeUndefined()
})

test.each(['{}', '{"tools":null,"messages":null}', '{"tools":{},"messages":{"role":"system"},"system":7}', ' {} '])(
  'a body of an unexpected shape stays as it is: %s',
  (json) => {
    expect(applyHygiene(json, sorting)).toBeUndefined()
  },
)

test('property: done twice it is the same as once, and no byte is lost', () => {
  const body = fc.record({ tools: fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c') }), { maxLength: 3 }) })
  fc.assert(
    fc.property(body, fc.constantFrom('', ' ', '\n\t'), (object, space) => {
      const json = JSON.stringify(object, null, space)
      const once = applyHygiene(json, sorting)
      if (once === undefined) return
      expect([...once].toSorted().join('')).toBe([...json].toSorted().join(''))
      expect(applyHygiene(once, sorting)).toBeUndefined()
    }),
  )
})
