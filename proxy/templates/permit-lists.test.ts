import { expect, test } from 'vitest'
import { assistantMessage, Sender, userMessage } from '../request/sender.fixture.ts'
import { noteLists } from './note-lists.ts'
import { permitLists } from './permit-lists.ts'
import { TemplateBook } from './template-book.ts'

const [mills, salt, ferry] = [
  'The Orm valley has eleven mills, and the oldest of them was built by two sisters.',
  'Salt from Karvik is grey, since the pans are lined with slate.',
  'The ferry to Linholm leaves at noon, except on days of fog.',
]
const turn = userMessage('why?', ferry, mills, salt)

test('a turn that is asked again is judged again, and one that was answered is sent as it was', () => {
  const book = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false })
  const permit = permitLists(book, { tenant: 'default', api: 'chat_completions', model: 'm', mode: 'on' })
  const sender = new Sender()
  sender.send([userMessage('why?', mills, salt, ferry)], { permit })
  const { contexts } = sender.decide({ messages: [turn] }, { permit })
  noteLists(book, 'default', contexts, [turn.content as string])
  const [sent] = sender.send([turn], { permit })
  expect(sent).not.toEqual(turn)
  expect(sender.send([turn], { permit })).toEqual([sent])

  expect(book.say(contexts[0]!.found.template!.id, 'off')).toBe(true)
  const answered = [turn, assistantMessage('So.'), { role: 'user', content: 'Why?' }]
  expect(sender.send(answered, { permit })[0]).toEqual(sent)
  expect(sender.decide({ messages: [turn] }, { permit }).skipped).toBe('not_permitted')
  expect(sender.send([turn], { permit })).toEqual([turn])
})
