import { expect, test } from 'vitest'
import { CitationLabels } from '../answer/citations/citation-labels.ts'
import { mapCitations } from '../answer/citations/map-citations.ts'
import type { PromptContext } from './body/prompt-context.ts'
import { citationMapOf, labelFormOf } from './citation-map.ts'
import { findContexts } from './contexts.fixture.ts'

const message = { role: 'user', texts: [0], rest: '[{}]', isTextOnly: true }
const find = (text: string): PromptContext => findContexts(message, [text])[0]!
const mapOf = (...lists: [text: string, order: number[]][]): unknown => {
  const texts = lists.map(([text]) => text)
  const contexts = lists.map(([text, order], i) => ({
    found: { ...find(text), slots: find(text).slots.map((slot) => ({ ...slot, text: i })) },
    order,
  }))
  return citationMapOf(texts, contexts).map(({ prefix, labels }) => [prefix, Object.fromEntries(labels)])
}

test('labels as sent are mapped to those under which the blocks came', () => {
  expect(mapOf(['[1] a\n[2] b\n[3] c\n\nQuestion: q', [2, 0, 1]])).toEqual([['', { 1: '3', 2: '1', 3: '2' }]])
  expect(mapOf(['[Doc_1] a\n[Doc_2] b\n\nQuestion: q', [1, 0]])).toEqual([['Doc_', { 1: '2', 2: '1' }]])
})

test('with every block in its place, or with labels that travel with their blocks, there is nothing to map', () => {
  expect(mapOf(['[1] a\n[2] b\n\nQuestion: q', [0, 1]])).toEqual([])
  expect(mapOf(['[Doc_ab1] a\n[Doc_cd2] b\n\nQuestion: q', [1, 0]])).toEqual([])
})

test('lists stay in the order of the prompt', () => {
  const [one, two] = ['[1] a\n[2] b\n[3] c\n\nQuestion: q', '[1] d\n[2] e\n\nQuestion: q']
  expect(mapOf([one, [1, 0, 2]], [two, [0, 1]])).toEqual([
    ['', { 1: '2', 2: '1', 3: '3' }],
    ['', { 1: '1', 2: '2' }],
  ])
})

test('blocks without labels are not cited by number', () => {
  const parts = { ...message, texts: [0, 1, 2] }
  const texts = ['Rain fell.', 'The sun shone.', 'Question: why?']
  const [found] = findContexts(parts, texts)
  expect(citationMapOf(texts, [{ found: found!, order: [1, 0] }])).toEqual([])
})

test.each([
  [
    '<document index="1">a</document>\n<document index="2">b</document>\n\nQuestion: q',
    { prefix: '', tag: 'document' },
  ],
  ['[Doc_1] a\n[Doc_2] b\n\nQuestion: q', { prefix: 'Doc_' }],
  ['Source 1: a\nSource 2: b\n\nQuestion: q', { prefix: 'Source ' }],
  ['[1] a\n[2] b\n\nQuestion: q', { prefix: '' }],
])('how the labels of %j are written is told', (text, form) => {
  expect(labelFormOf([text], find(text))).toEqual({
    tag: undefined,
    names: [],
    isInParentheses: false,
    ...form,
  })
})

test.each([
  ['Use these documents.\n[1] a\n[2] b\n\nUsing the articles above, who?', 'article 2', true],
  ['Use these search results to answer.\nBe brief.\n\n[1] a\n[2] b\n\nQuestion: who?', 'Result 2', true],
  ['搜索结果：\n[1] a\n[2] b\n\nQuestion: q', '见结果2', true],
  ['Контекст (статьи):\n[1] a\n[2] b\n\nQuestion: q', 'в статье 2', true],
  ['Kontext:\n[1] a\n[2] b\n\nFrage: Darf man das nach Artikel 3?', 'Artikel 2', false],
  ['Context:\n[1] a\n[2] b\n\nQuestion: on which grounds?', 'page 2', false],
])('behind %j an answer’s %j is mapped: %s', (text, said, isMapped) => {
  const map = citationMapOf([text], [{ found: find(text), order: [1, 0] }])
  expect(mapCitations(new CitationLabels(map), `${said}.`)).toBe(isMapped ? `${said.slice(0, -1)}1.` : `${said}.`)
})
