import { expect, test } from 'vitest'
import { Sender, type SendOptions } from '../sender.fixture.ts'
import { findQuestionInFront } from '../to-engine-request.ts'

const words = (name: string): string => Array.from({ length: 60 }, (_, i) => `${name}${i}`).join(' ')
const documents = (...names: string[]): string =>
  `<documents>\n${names.map((name) => `<document>\n${words(name)}\n</document>`).join('\n')}\n</documents>`
const user = (content: string): object => ({ role: 'user', content })
const question = 'Why does the engine hold a prefix of every prompt that it has seen?'

function expected(messages: readonly object[], options: SendOptions = {}): readonly number[] | undefined {
  const sender = new Sender()
  return findQuestionInFront(sender.decide({ messages }, options), (characters) => Math.round(characters / 4))
}

test('a question in front of the documents ends where their markup begins', () => {
  const asked = `Question: ${question}`
  const lists = documents('alpha', 'beta', 'gamma')
  const [start, end] = expected([user(`${asked}\n\n${lists}`)])!
  expect(start).toBe(0)
  // with what marks its message, as the engine's template does
  expect(end).toBeGreaterThanOrEqual(Math.floor(asked.length / 4))
  expect(end).toBeLessThanOrEqual(Math.ceil((asked.length + 60) / 4))
  for (const calling of ['Answer:', 'Helpful Answer:', '答案：', '---'])
    expect(expected([user(`${asked}\n\n${lists}\n\n${calling}`)])).toEqual([start, end])
  const [from, to] = expected([{ role: 'system', content: 'Be brief. '.repeat(30) }, user(`${asked}\n\n${lists}`)])!
  expect(to! - from!).toBe(64)
  expect(to).toBeGreaterThanOrEqual(end! + 75)
})

test('two lists behind one question count as one', () => {
  const one = `${question}\n\n${documents('alpha', 'beta')}`
  expect(expected([user(`${one}\n\n${documents('gamma', 'delta')}`)])).toEqual(expected([user(one)]))
})

test.each([
  ['a question behind', `Be brief.\n\n${documents('alpha', 'beta')}\n\nQuestion: ${question}`],
  ['a short question behind', `Be brief.\n\n${documents('alpha', 'beta')}\n\nWho won?`],
  ['a short question with a call', `Be brief.\n\n${documents('alpha', 'beta')}\n\nQuestion: who won?\nAnswer:`],
  ['a question without spaces', `请简短。\n\n${documents('alpha', 'beta')}\n\n谁赢了比赛`],
  ['a question between', `Be brief.\n\n${documents('alpha', 'beta')}\n\nWho won?\n\n${documents('gamma', 'delta')}`],
  ['nothing in front', documents('alpha', 'beta')],
  ['much behind', `${question}\n\n${documents('alpha', 'beta')}\n${'.'.repeat(3_000_000)}`],
  ['no documents', question],
  ['a long front', `${'Answer from the documents. '.repeat(30)}${question}\n\n${documents('alpha', 'beta')}`],
])('nothing is said of %s', (_, content) => {
  expect(expected([user(content)])).toBeUndefined()
})

test('nothing is said of a question in a later message, of several prompts and in shadow mode', () => {
  const asked = `${question}\n\n${documents('alpha', 'beta')}`
  expect(expected([user(asked)])).toBeDefined()
  expect(expected([user(asked), user('And why?')])).toBeUndefined()
  expect(expected([user(asked)], { mode: 'shadow' })).toBeUndefined()
  const several = new Sender().decide({ prompt: [asked, asked] }, { api: 'completions' })
  expect(findQuestionInFront(several, (characters) => characters / 4)).toBeUndefined()
})
