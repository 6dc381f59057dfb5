import { expect, test } from 'vitest'
import { readPromptBody } from '../../prompt/formats/read-prompt-body.ts'
import { Sender } from '../../request/sender.fixture.ts'
import { noteLists } from '../note-lists.ts'
import { permitLists } from '../permit-lists.ts'
import { TemplateBook } from '../template-book.ts'
import { cutLearntList } from './cut-learnt-list.ts'
import { promptsOf } from './learner-texts.fixture.ts'
import { unknownMessages } from './learnt-templates.ts'
import { type Learnt, TemplateLearner } from './template-learner.ts'
import { toPlace } from './text-keys.ts'

const [tenant, api, model] = ['default', 'chat_completions', 'm'] as const
const system = { role: 'system', content: 'Qua mel 12 tor. Sil dun.' }
const render = (documents: readonly string[]): string =>
  `Qua dro vex nam.\n${documents.map((text) => `<zeki>${text}</zeki>`).join('\n')}\n\nTrifer: `

/** Where an application may put its documents. */
const places: Record<string, (list: string, question: string) => object[]> = {
  'the message that asks': (list, question) => [system, { role: 'user', content: list + question }],
  'what the system says': (list, question) => [
    { role: 'system', content: `${list}mel.` },
    { role: 'user', content: question },
  ],
  'a result of a tool': (list, question) => [
    system,
    { role: 'user', content: question },
    { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'zeki_finder', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: '1', content: `${list}mel.` },
  ],
}

test.each(Object.entries(places))(
  'what lists have shown before their borders were known is what they would have shown if they had been: %s',
  (_, messagesOf) => {
    const bodies = promptsOf(60, render).map(({ documents, question }) => ({
      messages: messagesOf(render(documents), question),
    }))
    const learner = new TemplateLearner()
    const sender = new Sender()
    const book = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false })
    let learnt: Learnt | undefined
    let sent = 0
    while (learnt === undefined && sent < bodies.length) {
      const { set } = readPromptBody(api, Buffer.from(JSON.stringify(bodies[sent++]!)))!
      const unknown = unknownMessages(
        set!,
        set!.texts.map(({ text }) => text),
        [],
      )
      for (const { message, ...text } of unknown) {
        const place = toPlace({ tenant, api, role: message.role, tool: message.tool ?? '' }, false)
        learnt ??= learner.take(place, { ...text, model })
      }
    }
    const { template, seen } = learnt!
    sender.learnt = (_message, whole) => cutLearntList(whole, template)
    for (const body of bodies.slice(0, sent)) {
      const permit = permitLists(book, { tenant, api, model, mode: 'auto' })
      const { contexts, worlds } = sender.decide(body, { mode: 'auto', permit })
      noteLists(book, tenant, contexts, worlds!.texts)
    }
    expect(seen.length).toBeGreaterThan(0)
    expect(book.all.map(({ id }) => id).sort()).toEqual(seen.map(({ id }) => id).sort())
    for (const { id, place, lists, blocks, traffic } of seen) {
      expect(lists).toBeGreaterThan(7)
      expect(book.get(id)).toMatchObject({ place, requests: lists, blocks })
      expect(book.get(id)!.traffic.toRecord()).toEqual(traffic)
    }
  },
)

test('what a user asks is read once for all the messages that may teach a template', () => {
  const lengths = [200, 300, 400, 199, 400_001]
  const answers = lengths.map((length, i) => ({ role: 'tool', tool_call_id: `${i}`, content: 'm'.repeat(length) }))
  const { set } = readPromptBody(
    api,
    Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'Qua?' }, ...answers] })),
  )!
  const texts = set!.texts.map(({ text }) => text)
  let reads = 0
  const counted = new Proxy(texts, {
    get: (own, name) => {
      if (own[Number(name)] === 'Qua?') reads++
      return Reflect.get(own, name)
    },
  })
  const unknown = unknownMessages(set!, counted, [])
  expect(unknown.map(({ text, asked }) => [text.length, asked])).toEqual(
    [200, 300, 400].map((length) => [length, 'Qua?']),
  )
  // for its own length, and as what is asked
  expect(reads).toBe(2)
})
