import fc from 'fast-check'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { applySplices, elementSpans, insertMembers, memberSpans, removeMembers, valueStart } from './json-spans.ts'

const spaced = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom('', ' ', '\n\t', '\r\n  '))
  .map(([json, space]) => `${space}${JSON.stringify(JSON.parse(json), null, space)}${space}`)

test('members and elements are where a tree parser sees them', () => {
  fc.assert(
    fc.property(spaced, (json) => {
      const tree = parseTree(json)!
      const start = valueStart(json)
      expect(start).toBe(tree.offset)
      if (tree.type === 'object') {
        for (const [key, span] of memberSpans(json, start)) {
          const node = findNodeAtLocation(tree, [key])!
          expect(span).toEqual({ start: node.offset, end: node.offset + node.length })
        }
        expect(memberSpans(json, start).size).toBe(tree.children!.length)
      }
      if (tree.type === 'array') {
        const nodes = tree.children!.map((node) => ({ start: node.offset, end: node.offset + node.length }))
        expect(elementSpans(json, start)).toEqual(nodes)
      }
    }),
  )
})

test('of duplicate keys the last counts', () => {
  const json = '{"a":1,"b":2,"a":{"x":"\\"}"}}'
  const { start, end } = memberSpans(json, 0).get('a')!
  expect(json.slice(start, end)).toBe('{"x":"\\"}"}')
})

test('a member is inserted before the others, which stay as they were written', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const json = JSON.stringify(object, null, 1)
      const comma = json === '{}' ? '' : ','
      const inserted = applySplices(json, [insertMembers(json, 0, { cache_salt: 's' })])
      expect(inserted).toBe(`{"cache_salt":"s"${comma}${json.slice(1)}`)
    }),
  )
})

test('removed members leave valid JSON without them, wherever they stood', () => {
  const members = fc.array(fc.constantFrom('"reprise":{"x":[1]}', '"a":1', '"b" : "}"'), { maxLength: 6 })
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\n'), (parts, space) => {
      const json = `{${space}${parts.join(`${space},${space}`)}${space}}`
      const removed = applySplices(json, removeMembers(json, 0, new Set(['reprise'])))
      const kept = JSON.parse(json) as Record<string, unknown>
      delete kept.reprise
      expect(JSON.parse(removed)).toEqual(kept)
      expect(removed).not.toContain('reprise')
    }),
    { numRuns: 1000 },
  )
})
