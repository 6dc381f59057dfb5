import { beforeEach, expect, test } from 'vitest'
import { Sender } from '../request/sender.fixture.ts'
import { permitLists } from '../templates/permit-lists.ts'
import { TemplateBook } from '../templates/template-book.ts'

const block = (letter: string): string =>
  `<document>${`${letter} is what stands here, said again. `.repeat(20)}</document>`
const documents = (letters: string): string => Array.from(letters, block).join('\n')

/** As in the most copied prompt for retrieval: the question comes first. */
const questionFirst = (question: string, letters: string): object => ({
  messages: [
    {
      role: 'user',
      content: `Answer from the context.\nQuestion: ${question}\nContext:\n${documents(letters)}\nAnswer:`,
    },
  ],
})
const questionLast = (question: string, letters: string): object => ({
  messages: [{ role: 'user', content: `Context:\n${documents(letters)}\n\nQuestion: ${question}` }],
})

let sender: Sender
beforeEach(() => {
  sender = new Sender()
})

test('documents computed behind another question cannot be reused, and the reason says so', () => {
  expect(sender.decide(questionFirst('who?', 'abc')).skipped).toBe('nothing_to_gain')
  sender.sendBody(questionFirst('who?', 'abc'))
  expect(sender.decide(questionFirst('when?', 'abc')).skipped).toBe('differs_before')
  expect(sender.decide(questionFirst('when?', 'xyc')).skipped).toBe('differs_before')
  expect(sender.decide(questionFirst('when?', 'xyz')).skipped).toBe('nothing_to_gain')
  expect(sender.decide(questionFirst('when?', 'abc'), { tenant: 'other' }).skipped).toBe('nothing_to_gain')
})

test('of a list that may not be moved yet the reason is its order only where no order would help', () => {
  const book = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false })
  const permit = permitLists(book, { tenant: 'default', api: 'chat_completions', model: 'm', mode: 'auto' })
  sender.sendBody(questionFirst('who?', 'abc'), { mode: 'auto', permit })
  sender.sendBody(questionLast('who?', 'abc'), { mode: 'auto', permit })
  expect(sender.decide(questionFirst('when?', 'abc'), { mode: 'auto', permit }).skipped).toBe('differs_before')
  expect(sender.decide(questionLast('when?', 'bca'), { mode: 'auto', permit }).skipped).toBe('not_permitted')
})

test('what is the same up to the documents is not blamed', () => {
  sender.sendBody(questionLast('who?', 'abc'))
  expect(sender.decide(questionLast('when?', 'abc')).skipped).toBe('nothing_to_gain')
  sender.sendBody(questionFirst('who?', 'abc'))
  expect(sender.decide(questionFirst('who?', 'abc')).skipped).toBe('nothing_to_gain')
})

test.each([
  ['user', false],
  ['tool', true],
])('the message that differs is named, and whether the documents are what a tool returned: %s', (role, areResults) => {
  const asked = (question: string): object => ({
    messages: [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', function: { name: 'search_docs', arguments: '{}' } }],
      },
      { role, tool_call_id: 'c', content: documents('abc') },
    ],
  })
  sender.sendBody(asked('who?'))
  expect(sender.decide(asked('when?'))).toMatchObject({
    skipped: 'differs_before',
    differing: { prompt: 0, place: 1, message: { role: 'user' }, areResults },
  })
})
