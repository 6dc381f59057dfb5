import { describe, expect, it } from 'vitest'
import { type Message, Sender } from '../../reuse/sender.fixture.ts'
import { blind } from './blind.fixture.ts'
import { blindOrders } from './blind-orders.fixture.ts'
import { developed } from './developed.fixture.ts'
import { developedLater } from './developed-later.fixture.ts'
import { laterOrders } from './developed-later-orders.fixture.ts'
import { drawn } from './drawn.fixture.ts'
import { listsIn, orderedTexts } from './ordered-texts.fixture.ts'
import { documentKinds, documentsOf, judge, type Template } from './template.fixture.ts'

/** Ordered texts of the blind set in which a list is found; who mends one takes its name away. */
const knownTouched: readonly string[] = ['search results to be re-ranked', 'chunks of one document to be summarised']

/** What becomes of each template's documents, one word for each kind of these. */
function describeVerdicts(templates: readonly Template[]): string {
  return templates
    .map(
      (template, i) =>
        `${documentKinds.map((kind) => judge(template, documentsOf(kind, i))).join(' ')}\t${template.name}\n`,
    )
    .join('')
}

/** A message whose labelled texts stand the other way round, under labels that count up. */
function turnRound(message: Message): Message {
  const parts = (message.content as string).split('\n\n').map((part) => /^(\w+ \d+:|)(.*)$/s.exec(part)!)
  const bodies = parts.flatMap(([, label, body]) => (label === '' ? [] : [body!]))
  const content = parts.map(([, label, body]) => (label === '' ? body : label! + bodies.pop()!)).join('\n\n')
  return { ...message, content }
}

describe.each([
  ['developed', developed],
  ['developed-later', developedLater],
  ['blind', blind],
  ['drawn', drawn],
] as const)('templates as applications write them: %s', (name, templates) => {
  it('are found or left alone as before, and none is torn', async () => {
    const verdicts = describeVerdicts(templates)
    expect(verdicts).not.toContain('torn')
    await expect(verdicts).toMatchFileSnapshot(`./${name}.golden.txt`)
  })
})

it.each([...orderedTexts, ...laterOrders])('nothing is found in $name', ({ messages }) => {
  expect(listsIn(messages)).toEqual([])
})

it.each(blindOrders.filter(({ name }) => !knownTouched.includes(name)))(
  'nothing is found in what was drawn blind: $name',
  ({ messages }) => {
    expect(listsIn(messages)).toEqual([])
  },
)

it.each(blindOrders.filter(({ name }) => knownTouched.includes(name)))(
  'found, and not moved, though the engine holds it the other way round: $name',
  ({ messages }) => {
    const sender = new Sender()
    const before = messages.map(turnRound)
    expect(before).not.toEqual(messages)
    sender.send(before)
    expect(sender.send([...messages])).toEqual(messages)
  },
)

it('touches no ordered text of the blind set but the known ones', () => {
  const touched = blindOrders.filter(({ messages }) => listsIn(messages).length > 0)
  expect(touched.map(({ name }) => name)).toEqual(knownTouched)
})
