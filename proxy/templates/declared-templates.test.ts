import { beforeEach, expect, test } from 'vitest'
import { assistantMessage, type Message, Sender } from '../request/sender.fixture.ts'
import { readDeclaredTemplates } from './declared-templates.ts'

const words = (n: number): string =>
  `Note ${n} says that ferry ${n} leaves from pier ${n * 7} whenever the tide allows it.`
const numbered = {
  name: 'bot',
  block: '<p n="{n}">{block}</p>',
  join: '\n',
  before: 'Notes:\n<all>\n',
  after: '\n</all>',
}
const plain = { block: '~~~ {any}\n{block}\n\n', after: 'Ask: ' }

let sender: Sender

beforeEach(() => {
  sender = new Sender()
  sender.templates = readDeclaredTemplates([numbered, plain])
})

const inTags = (order: readonly number[]): string =>
  `Notes:\n<all>\n${order.map((n, i) => `<p n="${i + 1}">${words(n)}</p>`).join('\n')}\n</all>`
const numberedMessage = (question: string, order: readonly number[]): Message => ({
  role: 'user',
  content: `${inTags(order)}\n\n${question}`,
})
const plainMessage = (question: string, order: readonly number[]): Message => ({
  role: 'user',
  content: `${order.map((n) => `~~~ ${n}.txt\n${words(n)}\n\n`).join('')}Ask: ${question}`,
})

test('a list that a template wrote is moved; numbers count up, names go with their blocks', () => {
  sender.send([numberedMessage('a', [1, 2, 3])])
  const [sent] = sender.send([numberedMessage('b', [3, 1, 2])])
  expect(sent!.content).toBe(
    `${inTags([1, 2, 3])}\n\nPlease read the context in the following priority order: [3] > [1] > [2] and answer the question.\n\nb`,
  )
  sender.send([plainMessage('a', [1, 2, 3])])
  const [other] = sender.send([plainMessage('b', [3, 1, 2])])
  expect(other!.content).toContain(String(plainMessage('', [1, 2, 3]).content).replace('\n\nAsk: ', ''))
})

test('nothing else would find it', () => {
  sender.templates = []
  for (const toMessage of [numberedMessage, plainMessage]) {
    sender.send([toMessage('a', [1, 2, 3])])
    expect(sender.decide({ messages: [toMessage('b', [3, 1, 2])] })).toMatchObject({ blocks: 0, skipped: 'no_blocks' })
  }
})

test.each([
  ['with numbers', numberedMessage],
  ['with names', plainMessage],
])('a turn is sent again as it was sent, although the template is gone or another: %s', (_, toMessage) => {
  sender.send([toMessage('a', [1, 2, 3])])
  const asked = toMessage('b', [3, 1, 2])
  const sent = sender.send([asked])
  expect(sent[0]!.content).not.toBe(asked.content)
  const next = [asked, assistantMessage('Yes.'), { role: 'user', content: 'Why?' }]
  const late = readDeclaredTemplates([{ block: 'pier {any} {block}allows', after: 'Ask' }])
  for (const templates of [[], late]) {
    sender.templates = templates
    expect(sender.send(next)[0]).toEqual(sent[0])
    expect(sender.send([asked])).toEqual(sent)
  }
})

test('a turn is sent again as it came, although a template finds its list since', () => {
  sender.templates = []
  const asked = numberedMessage('b', [3, 1, 2])
  expect(sender.send([asked])).toEqual([asked])
  sender.templates = readDeclaredTemplates([numbered])
  sender.send([numberedMessage('a', [1, 2, 3])])
  const next = [asked, assistantMessage('Yes.'), { role: 'user', content: 'Why?' }]
  expect(sender.send(next)).toEqual(next)
  // in a new request it is decided again
  expect(sender.decide({ messages: [numberedMessage('c', [3, 1, 2])] })).toMatchObject({ blocks: 3, moved: 3 })
})

test('a prompt that the client renders keeps the order of its past turns', () => {
  const turn = (message: Message): string => `<|im_start|>user\n${message.content}<|im_end|>\n<|im_start|>assistant\n`
  const send = (prompt: string): string => sender.sendBody({ prompt }, { api: 'completions' }).prompt
  send(turn(numberedMessage('a', [1, 2, 3])))
  const first = turn(numberedMessage('b', [3, 1, 2]))
  const sent = send(first)
  expect(sent).not.toBe(first)
  const longer = `${first}Yes.<|im_end|>\n${turn(numberedMessage('c', [4, 5]))}`
  expect(send(longer).startsWith(sent)).toBe(true)
})

test('what the assistant says is not searched', () => {
  const messages = [
    { role: 'user', content: 'Say it.' },
    assistantMessage(String(numberedMessage('a', [1, 2, 3]).content)),
    { role: 'user', content: 'Why?' },
  ]
  expect(sender.decide({ messages }).blocks).toBe(0)
  const prompt = `<|im_start|>assistant\n${inTags([1, 2])}<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n`
  expect(sender.decide({ prompt }, { api: 'completions' }).blocks).toBe(0)
})

test('a template takes precedence over what marks show, and known chunks within its blocks are no list', () => {
  const [left, right] = [`${words(1)}\n\n${words(2)}`, `${words(3)}\n\n${words(4)}`]
  const write = (...blocks: string[]): Message => ({
    role: 'user',
    content: `<documents>\n${blocks.map((text) => `<document>@@@@\n${text}\n</document>`).join('\n')}\n</documents>\n\nWhy?`,
  })
  sender.templates = readDeclaredTemplates([{ block: '<document>@@@@\n{block}\n</document>', join: '\n' }])
  const { contexts } = sender.decide({ messages: [write(left, right)] })
  expect(contexts.map(({ found }) => [found.certain?.by, found.slots.length])).toEqual([['template', 2]])
})

test('a list within one text is searched for in each text of a message', () => {
  const texts = [inTags([1, 2]), inTags([3, 4]), 'Which?']
  const messages = [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }]
  expect(sender.decide({ messages }).contexts.map(({ found }) => found.slots.length)).toEqual([2, 2])
})
