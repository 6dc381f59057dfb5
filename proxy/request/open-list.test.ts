import { describe, expect, it } from 'vitest'
import { TemplateBook } from '../templates/template-book.ts'
import { type Message, Sender } from './sender.fixture.ts'

const texts = [
  'Leave is two days a month.',
  'Receipts are kept for years.',
  'Parents get sixteen weeks.',
  'Badges are blue.',
  'Rooms are warm in winter.',
]
const tail = '\n\nInstructions:\nWear them at all times.\n\nQuestion: How long is leave?'
const write = (...blocks: number[]): Message[] => [
  { role: 'user', content: `Documents:\n\n${blocks.map((k, i) => `[${i + 1}] ${texts[k]}`).join('\n\n')}${tail}` },
]

function createSender(): Sender {
  const sender = new Sender()
  sender.known = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => true }).cutsOf('t', 'chat')
  return sender
}

/** Returns which texts are sent, in order. */
function orderOf(sender: Sender, ...blocks: number[]): number[] {
  const sent = String(sender.send(write(...blocks))[0]!.content)
  return blocks.toSorted((a, b) => sent.indexOf(texts[a]!) - sent.indexOf(texts[b]!))
}

describe('a last block that may go on behind its end', () => {
  it('stays last, and the others are ordered', () => {
    const sender = createSender()
    sender.send(write(0, 1, 2, 3))
    expect(orderOf(sender, 2, 1, 0, 3)).toEqual([0, 1, 2, 3])
    expect(orderOf(sender, 3, 1, 2, 0).at(-1)).toBe(0)
  })

  it('is not torn by the ranking, which stands in front of the question', () => {
    const sender = createSender()
    sender.send(write(0, 1, 2, 3))
    const [sent] = sender.send(write(2, 1, 0, 3)) as [Message]
    expect(sent.content).toContain(
      `[4] ${texts[3]}\n\nInstructions:\nWear them at all times.\n\nPlease read the context`,
    )
    expect(sent.content).toMatch(/and answer the question\.\n\nQuestion: How long is leave\?$/)
  })

  it('is sent in full, although it stands earlier in the prompt', () => {
    const text = texts[2]!.repeat(20)
    const [message] = write(0, 1, 2) as [Message]
    const content = String(message.content).replaceAll(texts[2]!, text)
    const first = { role: 'user', content: `${content.replace(tail, '')}\n\nQuestion: why?` }
    const sent = createSender().send([first, { role: 'assistant', content: 'So.' }, { role: 'user', content }])
    expect(String(sent.at(-1)!.content)).toContain(`${text}\n\nInstructions:`)
  })

  it('moves once the words behind it were seen behind three others', () => {
    const sender = createSender()
    for (const blocks of [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
    ])
      sender.send(write(...blocks))
    const first = orderOf(sender, 3, 4, 0)
    expect(orderOf(sender, ...first.toReversed())).toEqual(first)
  })

  it('is sent again as it was, though the words are known since', () => {
    const sender = createSender()
    sender.send(write(0, 1, 2, 3))
    const asked = write(2, 1, 0, 3)
    const sent = sender.send(asked)
    expect(sent).not.toEqual(asked)
    for (const blocks of [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
      [0, 2, 4],
    ])
      sender.send(write(...blocks))
    const again = sender.send([...asked, { role: 'assistant', content: 'So.' }, { role: 'user', content: 'And?' }])
    expect(again[0]).toEqual(sent[0])
  })

  it.each(['\n\nQuestion: How long is leave?\nAnswer:', `${tail}\nAnswer:`])(
    'a prompt that the client renders is sent again as it was when it has grown: %j',
    (end) => {
      const sender = createSender()
      const render = (...blocks: number[]): string => String(write(...blocks)[0]!.content).replace(tail, end)
      const send = (prompt: string): string => sender.sendBody({ prompt }, { api: 'completions' }).prompt
      send(render(0, 1, 2, 3))
      const asked = render(2, 1, 0, 3)
      const sent = send(asked)
      expect(sent).not.toBe(asked)
      expect(send(`${asked} Two days.\n\nQuestion: And for parents?\nAnswer:`).startsWith(sent)).toBe(true)
    },
  )
})
