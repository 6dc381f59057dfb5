import { expect, test } from 'vitest'
import { assistantMessage, Sender, userMessage } from '../../request/sender.fixture.ts'

const documents = ['a', 'b', 'c', 'd'].map((letter) => `${letter} is what stands here, said again. `.repeat(20))

test.each([
  [100, 'in the order sent'],
  [5_001, 'as received'],
] as const)('after an answer with %i numbers, a list that was moved goes %s', (count, expected) => {
  const sender = new Sender()
  sender.send([userMessage('Why?', ...documents)])
  const asked = userMessage('When?', ...documents.toReversed())
  const [sent] = sender.send([asked])
  expect(sent).not.toEqual(asked)
  const [again] = sender.send([asked, assistantMessage('[1] '.repeat(count)), { role: 'user', content: 'And where?' }])
  expect(again).toEqual(expected === 'as received' ? asked : sent)
})
