import { expect, test } from 'vitest'
import { citationMapOf } from './citation-map.ts'
import { findContexts } from './find-contexts.ts'
import type { PromptContext } from './prompt-context.ts'

const message = { place: 0, role: 'user', texts: [0], rest: '[{}]', isTextOnly: true }
const find = (text: string): PromptContext => findContexts(message, [text])[0]!
const mapOf = (...lists: [text: string, order: number[]][]): object => {
  const texts = lists.map(([text]) => text)
  const contexts = lists.map(([text, order], i) => ({
    found: { ...find(text), slots: find(text).slots.map((slot) => ({ ...slot, text: i })) },
    order,
  }))
  return Object.fromEntries(
    citationMapOf(texts, contexts).map(({ prefix, labels }) => [prefix, Object.fromEntries(labels)]),
  )
}

test('labels as sent are mapped to those under which the blocks came', () => {
  expect(mapOf(['[1] a\n[2] b\n[3] c\n\nQuestion: q', [2, 0, 1]])).toEqual({ '': { 1: '3', 2: '1', 3: '2' } })
  expect(mapOf(['[Doc_1] a\n[Doc_2] b\n\nQuestion: q', [1, 0]])).toEqual({ Doc_: { 1: '2', 2: '1' } })
})

test('with every block in its place, or with labels that travel with their blocks, there is nothing to map', () => {
  expect(mapOf(['[1] a\n[2] b\n\nQuestion: q', [0, 1]])).toEqual({})
  expect(mapOf(['[Doc_ab1] a\n[Doc_cd2] b\n\nQuestion: q', [1, 0]])).toEqual({})
})

test("a label that several lists bear is the last one's", () => {
  const [one, two] = ['[1] a\n[2] b\n[3] c\n\nQuestion: q', '[1] d\n[2] e\n\nQuestion: q']
  expect(mapOf([one, [1, 0, 2]], [two, [0, 1]])).toEqual({ '': { 1: '1', 2: '2', 3: '3' } })
})

test('blocks without labels are cited as the order annotation calls them', () => {
  const parts = { ...message, texts: [0, 1, 2] }
  const texts = ['a', 'b', 'q']
  const [found] = findContexts(parts, texts)
  expect(citationMapOf(texts, [{ found: found!, order: [1, 0] }])).toEqual([
    {
      prefix: 'Doc_',
      labels: new Map([
        ['1', '2'],
        ['2', '1'],
      ]),
    },
  ])
})
