import { expect, test } from 'vitest'
import type { PromptContext } from './body/prompt-context.ts'
import { citationMapOf } from './citation-map.ts'
import { findContexts } from './contexts.fixture.ts'

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

test('blocks without labels are called by nothing in the prompt, so nothing is mapped', () => {
  const parts = { ...message, texts: [0, 1, 2] }
  const texts = ['Rain fell.', 'The sun shone.', 'Question: why?']
  const [found] = findContexts(parts, texts)
  expect(citationMapOf(texts, [{ found: found!, order: [1, 0] }])).toEqual([])
})

test.each([
  [
    '<document index="1">a</document>\n<document index="2">b</document>\n\nQuestion: q',
    ['document ', 'document: ', 'doc ', 'doc: '],
  ],
  ['<passage id="1">a</passage>\n<passage id="2">b</passage>\n\nQuestion: q', ['passage ', 'passage: ']],
  ['[Doc_1] a\n[Doc_2] b\n\nQuestion: q', ['document ', 'document: ', 'doc ', 'doc: ']],
  ['Source 1: a\nSource 2: b\n\nQuestion: q', ['Source: ']],
  ['[1] a\n[2] b\n\nQuestion: q', undefined],
])('in %j the blocks are spoken of in other words too', (text, aliases) => {
  expect(citationMapOf([text], [{ found: find(text), order: [1, 0] }])[0]!.aliases).toEqual(aliases)
})

test('blocks that call themselves `Document 2` are spoken of so whatever their labels are', () => {
  const text =
    'Sources:\n<document index="1">Document 7 is red</document>\n<document index="2">Document 1 is blue</document>'
  const { labels, aliases } = citationMapOf([text], [{ found: find(text), order: [1, 0] }])[0]!
  expect([...labels]).toEqual([
    ['1', '2'],
    ['2', '1'],
  ])
  expect(aliases).toBeUndefined()
})
