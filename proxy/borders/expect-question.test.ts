import { expect, test } from 'vitest'
import { Sender, type SendOptions } from '../reuse/sender.fixture.ts'
import { expectQuestion } from './expect-question.ts'

const words = (name: string): string => Array.from({ length: 60 }, (_, i) => `${name}${i}`).join(' ')
const documents = (...names: string[]): string =>
  `<documents>\n${names.map((name) => `<document>\n${words(name)}\n</document>`).join('\n')}\n</documents>`
const user = (content: string): object => ({ role: 'user', content })
const question = 'Why does the engine hold a prefix of every prompt that it has seen?'

function expected(messages: readonly object[], options: SendOptions = {}): readonly number[] | undefined {
  const sender = new Sender()
  return expectQuestion(sender.decide({ messages }, options), (characters) => Math.round(characters / 4))
}

test('a question in front of the documents ends where they begin', () => {
  const asked = `Question: ${question}\n\n`
  const lists = documents('alpha', 'beta', 'gamma')
  const [start, end] = expected([user(asked + lists)])!
  expect(end).toBeGreaterThanOrEqual(Math.floor(asked.length / 4))
  expect(end).toBeLessThanOrEqual(Math.ceil((asked.length + 80) / 4))
  expect(start).toBe(0)
  expect(expected([user(`${asked}${lists}\n\nAnswer:`)])).toEqual([start, end])
  // a message that precedes them may hold it
  expect(expected([{ role: 'system', content: 'Be brief. '.repeat(40) }, user(asked + lists)])![0]).toBeGreaterThan(50)
})

test('two lists behind one question count as one', () => {
  const one = `${question}\n\n${documents('alpha', 'beta')}`
  expect(expected([user(`${one}\n\n${documents('gamma', 'delta')}`)])).toEqual(expected([user(one)]))
})

test('nothing is said where the question stands behind, where it is far from the beginning, and of several prompts', () => {
  const lists = documents('alpha', 'beta')
  expect(expected([user(`${lists}\n\nQuestion: ${question}`)])).toBeUndefined()
  expect(expected([user(`${lists}\n`), user(question)])).toBeUndefined()
  expect(expected([user(question)])).toBeUndefined()
  expect(expected([user(`${'Answer from the documents. '.repeat(80)}${question}\n\n${lists}`)])).toBeUndefined()
  const inShadow = expected([user(`${question}\n\n${lists}`)], { mode: 'shadow' })
  expect(inShadow).toBeUndefined()
})
