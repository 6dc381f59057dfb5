import { expect, it } from 'vitest'
import { findContextLists } from '../forms/found-lists.fixture.ts'
import { findOpenWords } from './find-open-words.ts'

const open = (text: string, isAskedElsewhere = false): (string | undefined)[] =>
  findContextLists(text, { asked: isAskedElsewhere }).map(
    (list) => findOpenWords(text, list, text.length, isAskedElsewhere)?.words,
  )
const list = 'Documents:\n\n[1] Leave is two days a month.\n\n[2] Badges are blue.'

it.each([
  ['the question', '\n\nQuestion: How long is leave?'],
  ['the question without a mark', '\n\nHow long is leave?'],
  ['the question, and where the answer begins', '\n\nQuestion: How long is leave?\n\nAnswer:'],
  ['a request to the model', '\n\nAnswer the question based on the given passages.\n\nQuestion: How long is leave?'],
  ['what the documents are', '\n\nThe above is the knowledge base.\n\nHow long is leave?'],
  ['a heading of the question', '\n\n### Query:\n\nHow long is leave?'],
  ['the question, and how to answer it', '\n\nQuestion: How long is leave?\n\nPlease answer in one sentence.'],
])('no words behind a list are its last block’s if the first is %s', (_, tail) => {
  expect(open(list + tail)).toEqual([undefined])
})

it.each([
  ['Instructions:\nWear them at all times.\n\n', 'Question: How long is leave?\nAnswer:'],
  ['---\n\nGuests get red ones.\n\n', 'Question: How long is leave?'],
  ['Rules:\n- wear it\n- keep it\n\n', 'Question: How long is leave?\n\nBe brief.'],
  ['Question: what of guests?\nAnswer: red ones.\n\n', 'Question: How long is leave?\n\nAnswer:'],
])('%j in front of the question may be', (words, question) => {
  expect(open(`${list}\n\n${words}${question}`)).toEqual([words])
})

it('all that follows may be where the question is in another message', () => {
  const container = `<context>\n${list}`
  const words = 'Guests get red ones at the gate.'
  const [found] = findContextLists(`${container}\n</context>`)
  const text = `${container}\n\n${words}`
  expect(findOpenWords(text, { ...found!, end: container.length }, text.length, true)?.words).toBe(words)
  expect(findOpenWords(text, { ...found!, end: container.length }, text.length, false)).toBeUndefined()
})

it.each([
  '<documents>\n[1] Leave.\n[2] Badges are blue.\n</documents>\n\nUse them.\n\nQuestion: How long?',
  '<document>Leave.</document>\n<document>Badges are blue.</document>\n\nUse them.\n\nQuestion: How long?',
  'Context:\n---\n[1] Leave is paid.\n[2] Badges are blue.\n---\n\nUse them.\n\nQuestion: How long?',
])('none is behind a mark that closes the block or the list: %j', (text) => {
  expect(open(text)).toEqual([undefined])
})

it('the next list ends the words', () => {
  const text = `${list}\n\nMemories:\n- a\n- b\n\nQuestion: How long?`
  const [found] = findContextLists(text)
  expect(findOpenWords(text, found!, text.indexOf('- a'), false)).toBeUndefined()
})
