import { describe, expect, it } from 'vitest'
import { type Message, Sender } from '../../request/sender.fixture.ts'
import { contentsOf, findContextLists } from './found-lists.fixture.ts'
import { contentsIn, type Document, documentsOf, markedForms, writeList } from './marked-forms.fixture.ts'

const question = 'Question: which of them is open at night?'

/** Texts that show an order, whatever their decoration. */
const ordered: Readonly<Record<string, (place: number, body: string) => string>> = {
  'steps of one process': (place, body) => `Step ${place + 1}: ${body}`,
  'entries with dates': (place, body) => `2026-0${place + 1}-12: ${body}`,
  'parts of one text': (place, body) => `(Part ${place + 1} of 5)\n${body}`,
}

describe.each(markedForms)('$name', (form) => {
  it.each([2, 5, 15])('is found in front of the question, of %i documents', (count) => {
    const documents = documentsOf(count)
    const text = `${writeList(form, documents)}\n\n${question}`
    expect(contentsOf(text)).toEqual([contentsIn(form, documents)])
  })

  it.each([2, 5, 15])('is found behind the question, of %i documents', (count) => {
    const documents = documentsOf(count)
    const text = `${question}\n\n${writeList(form, documents)}`
    expect(contentsOf(text)).toEqual([contentsIn(form, documents)])
  })

  it.each(Object.keys(ordered))('is left alone where it holds %s', (kind) => {
    const documents = documentsOf(5).map(({ name, body }, i): Document => ({ name, body: ordered[kind]!(i, body) }))
    const text = `${writeList(form, documents)}\n\n${question}`
    expect(findContextLists(text).filter(({ blocks }) => blocks.length > 1)).toEqual([])
  })
})

describe.each(markedForms)('documents in the dress of $name', (form) => {
  const documents = documentsOf(3)
  const other = [documents[2]!, documents[0]!, documents[1]!]
  const write = (own: readonly Document[], words: string): Message[] => [
    { role: 'user', content: `${writeList(form, own)}\n\n${words}` },
  ]

  it('go in the order that the engine holds, and nothing of them is lost', () => {
    const sender = new Sender()
    const first = sender.send(write(documents, question))[0]!.content as string
    const received = write(other, question)
    const sent = sender.send(received)[0]!.content as string
    expect(sent).not.toBe(received[0]!.content)
    const places = contentsIn(form, documents).map((body) => sent.indexOf(body.slice(-40)))
    expect(places.every((place) => place >= 0)).toBe(true)
    // the engine has everything cached up to the last document
    expect(sent.startsWith(first.slice(0, places.at(-1)))).toBe(true)
  })

  it('stay where they are spoken of by place', () => {
    const sender = new Sender()
    sender.send(write(documents, question))
    const received = write(other, 'Question: what does the second document say?')
    expect(sender.send(received)).toEqual(received)
  })
})

describe('the same marks around something else', () => {
  const write = (one: (body: string, number: number) => string): string =>
    `${documentsOf(4)
      .map(({ body }, i) => one(body, i + 1))
      .join('\n\n')}\n\n${question}`

  it.each<[string, (body: string, number: number) => string]>([
    ['steps', (body, n) => `[step ${n} begin]${body}[step ${n} end]`],
    ['turns', (body, n) => `[turn ${n} begin]\n${body}\n[turn ${n} end]`],
    ['messages', (body, n) => `Message ${n}:::\n${body}`],
    ['steps in Russian', (body, n) => `Шаг ${n}: ${body}`],
    ['steps in Korean', (body, n) => `단계 ${n}: ${body}`],
    ['chapters in Polish', (body, n) => `Rozdział ${n}: ${body}`],
    ['questions in Dutch', (body, n) => `Vraag ${n}: ${body}`],
    ['lines of a log', (body, n) => JSON.stringify({ line: n, message: body })],
    [
      'documents where one is closed twice',
      (body, n) => `[document ${n} begin]${body}[document ${n} end] [document ${n} end]`,
    ],
    [
      'documents that are closed by the number of another',
      (body, n) => `[document ${n} begin]${body}[document ${n + 1} end]`,
    ],
    ['documents with words between them', (body, n) => `[document ${n} begin]${body}[document ${n} end]\nThen I read:`],
  ])('is left alone: %s', (_, one) => {
    expect(contentsOf(write(one))).toEqual([])
  })
})
