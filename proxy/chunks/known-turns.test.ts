import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { assistantMessage, type Message, Sender } from '../request/sender.fixture.ts'
import { documentText, embed, rerankAmongOthers } from './chunk-texts.fixture.ts'

const docs = Array.from({ length: 6 }, (_, n) => documentText(n))
let sender: Sender

beforeEach(() => {
  sender = new Sender()
})

const user = (question: string, order: readonly number[], separator = '\n\n'): Message => ({
  role: 'user',
  content: `Use these pieces.\n\n${order.map((n) => docs[n]).join(separator)}\n\nQuestion: ${question}`,
})

test('known chunks are ordered as the engine holds them, by splices', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  sender.send([user('first', [0, 1, 2])])
  const [sent] = sender.send([user('second', [2, 0, 1])])
  // they have no labels by which they could be ranked
  expect(sent!.content).toBe(`Use these pieces.\n\n${docs.slice(0, 3).join('\n\n')}\n\nQuestion: second`)
  expect(sender.decide({ messages: [user('third', [1, 2, 0])] })).toMatchObject({ blocks: 3, moved: 3 })
})

test.each(['What does the second paragraph say?', 'Summarise the last part.'])(
  'known chunks stay where one is spoken of by its place: %s',
  async (question) => {
    await rerankAmongOthers(sender.chunks, docs)
    sender.send([user('first', [0, 1, 2])])
    expect(sender.send([user(question, [2, 0, 1])])).toEqual([user(question, [2, 0, 1])])
  },
)

test('a turn is sent again as it was sent, although its chunks are forgotten', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  sender.send([user('first', [0, 1, 2])])
  const asked = user('second', [2, 0, 1])
  const sent = sender.send([asked])
  expect(sent[0]!.content).not.toBe(asked.content)
  sender.chunks.clear()
  const next = [asked, assistantMessage('Yes.'), { role: 'user', content: 'Why?' }]
  expect(sender.send(next)[0]).toEqual(sent[0])
})

test('a turn is sent again as it came, although its chunks have become known since', async () => {
  await rerankAmongOthers(sender.chunks, docs.slice(3))
  sender.send([user('other', [0, 1, 2])])
  const asked = user('second', [2, 0, 1])
  expect(sender.send([asked])).toEqual([asked])
  await rerankAmongOthers(sender.chunks, docs)
  sender.send([user('first', [0, 1, 2])])
  const next = [asked, assistantMessage('Yes.'), { role: 'user', content: 'Why?' }]
  expect(sender.send(next)).toEqual(next)
  // in a new request it is decided again
  expect(sender.decide({ messages: [user('third', [2, 0, 1])] }).blocks).toBe(3)
})

test('other turns of the conversation are not forgotten with the chunks', async () => {
  await embed(sender.chunks, docs)
  const tagged = (order: readonly number[]): Message => ({
    role: 'user',
    content: `<documents>\n${order.map((n) => `<document>${n} is a document</document>`).join('\n')}\n</documents>\n\n${order.map((n) => docs[n]).join('\n\n')}\n\nQuestion: x`,
  })
  sender.send([tagged([0, 1, 2])])
  const asked = tagged([2, 1, 0])
  const sent = sender.send([asked])
  const next = [asked, assistantMessage('Yes.'), { role: 'user', content: 'Why?' }]
  expect(sender.send(next)[0]).toEqual(sent[0])
  sender.chunks.clear()
  expect(sender.send(next)[0]).toEqual(sent[0])
})

test('a prompt that the client renders keeps the order of its past turns', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  const turn = (question: string, order: readonly number[]): string =>
    `<|im_start|>user\n${user(question, order).content}<|im_end|>\n<|im_start|>assistant\n`
  const send = (prompt: string): string => sender.sendBody({ prompt }, { api: 'completions' }).prompt
  send(turn('a', [0, 1, 2]))
  const first = turn('b', [2, 1, 0])
  const sent = send(first)
  expect(sent).not.toBe(first)
  const next = send(`${first}Yes.<|im_end|>\n${turn('c', [4, 5])}`)
  expect(next.startsWith(sent)).toBe(true)
  const late = new Sender()
  late.chunks = sender.chunks
  const asked = `${turn('b', [2, 1, 0])}Yes.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n`
  expect(late.sendBody({ prompt: asked }, { api: 'completions' }).prompt).toBe(asked)
})

test('chunks in what an assistant said stay', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  const messages = [
    { role: 'user', content: 'Say it.' },
    assistantMessage(docs.slice(0, 3).join('\n\n')),
    user('x', [0]),
  ]
  expect(sender.decide({ messages }).blocks).toBe(0)
})

test('chunks in text parts are a list across them', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  const parts = (order: readonly number[]): Message => ({
    role: 'user',
    content: [...order.map((n) => docs[n]!), 'Who did it?'].map((text) => ({ type: 'text', text })),
  })
  sender.send([parts([0, 1, 2])])
  expect(sender.decide({ messages: [parts([2, 0, 1])] })).toMatchObject({ blocks: 3, moved: 3 })
})

test('documents of a list that hold known chunks stay whole', async () => {
  await rerankAmongOthers(sender.chunks, docs)
  const content = [
    [0, 3],
    [2, 5],
  ].map(([x, y], i) => `<document index="${i + 1}">\n${docs[x!]}\n\n${docs[y!]}\n</document>`)
  expect(
    sender.decide({ messages: [{ role: 'user', content: `${content.join('\n')}\n\nQuestion: x` }] }).contexts,
  ).toHaveLength(1)
})

test('whatever is known, a prompt holds what it held, in another order at most', async () => {
  await rerankAmongOthers(sender.chunks, docs.slice(0, 4))
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1 })
  fc.assert(
    fc.property(order, fc.constantFrom('\n\n', '\n', ' '), fc.constantFrom('a', 'b'), (own, separator, question) => {
      const { content } = user(question, own, separator)
      const sent = String(sender.send([{ role: 'user', content }])[0]!.content)
      const plain = sent.replace(/\n\nPlease read the context in [^\n]* and answer the question\.(?:\n\n(?= ))?/g, '')
      for (const n of own) expect(plain.split(docs[n]!)).toHaveLength(2)
      expect(plain.length).toBe(String(content).length)
      expect([...plain].sort().join('')).toBe([...String(content)].sort().join(''))
    }),
  )
})
