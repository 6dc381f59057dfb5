import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { Sender } from '../request/sender.fixture.ts'

type Json = Readonly<Record<string, unknown>>

const documents = ['The Amazon', 'Peru', 'Copper', 'A tram', 'The violin'].map(
  (what) => `${what} is known to many people, and ${'there is more to say of it, '.repeat(4)}as books show.`,
)
const mark = fc.constantFrom(undefined, { type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }, null, {
  type: 'unknown',
  own: [1.0, 'x'],
})
const marks = fc.array(mark, { minLength: 12, maxLength: 12 })
const orders = fc.array(fc.shuffledSubarray(documents, { minLength: 2 }), { minLength: 2, maxLength: 3 })

/** Returns a text part, with a mark if one is given. */
const part = (text: string, cache_control: unknown): Json =>
  cache_control === undefined ? { type: 'text', text } : { type: 'text', text, cache_control }
const listed = (texts: readonly string[]): string =>
  `<documents>\n${texts.map((text) => `<document>${text}</document>`).join('\n')}\n</documents>`

/** One way to write a turn with documents; marks are taken one after the other. */
type Form = (texts: readonly string[], take: () => unknown) => Json
const forms: Readonly<Record<string, Form>> = {
  'a list in one part': (texts, take) => ({
    role: 'user',
    content: [part(listed(texts), take()), part('Question: what do they say?', take())],
  }),
  'a part for each document': (texts, take) => ({
    role: 'user',
    content: [
      ...texts.map((text, i) => part(`Document ${i + 1}: ${text}`, take())),
      part('Question: what do they say?', take()),
    ],
  }),
  'tags around parts': (texts, take) => ({
    role: 'user',
    content: [
      part('<documents>', take()),
      ...texts.map((text) => part(`<document>${text}</document>`, take())),
      part('</documents>\n\nQuestion: what do they say?', take()),
    ],
  }),
}

/** Returns all marks of a body, each with its path. */
function marksOf(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]): [string, unknown][] =>
    key === 'cache_control' ? [[`${path}/${key}`, below]] : marksOf(below, `${path}/${key}`),
  )
}

test.each<[PromptApi, string]>(
  (['chat_completions', 'messages'] as const).flatMap((api) =>
    Object.keys(forms).map((form): [PromptApi, string] => [api, form]),
  ),
)('in %s, %s: every mark stays where it is and what it is, whatever moves', (api, form) => {
  let changed = 0
  fc.assert(
    fc.property(orders, marks, (lists, given) => {
      const sender = new Sender()
      const history: Json[] = []
      for (const texts of lists) {
        let next = 0
        const take = (): unknown => given[next++ % given.length]
        const system = [part('Answer from the documents.', take())]
        const tools = [{ name: 'search', input_schema: {}, cache_control: take() }]
        history.push(forms[form]!(texts, take))
        const messages = api === 'messages' ? history : [{ role: 'system', content: system }, ...history]
        const top = take()
        const body = JSON.parse(
          JSON.stringify({
            ...(api === 'messages' ? { system, tools } : {}),
            tool_choice: { type: 'none' },
            messages,
            ...(top === undefined ? {} : { cache_control: top }),
          }),
        ) as Json
        const sent = sender.sendBody(body, { api })
        if (JSON.stringify(sent) !== JSON.stringify(body)) changed += 1
        expect(marksOf(sent)).toEqual(marksOf(body))
        history.push({ role: 'assistant', content: 'They say much.' })
      }
    }),
    { numRuns: 20 },
  )
  expect(changed).toBeGreaterThan(5)
})

/** Sends a prompt in the order that the engine holds, and then, in another conversation, with its blocks turned round. */
function sendTurned(api: PromptApi, write: Form, isMarked: boolean): { sender: Sender; turned: Json; sent: Json } {
  const sender = new Sender()
  const take = (): unknown => (isMarked ? { type: 'ephemeral' } : undefined)
  const texts = documents.slice(0, 3)
  sender.sendBody(bodyOf(api, [write(texts, take)], isMarked), { api })
  const turned = write(texts.toReversed(), take)
  const sent = sender.sendBody(bodyOf(api, [turned], isMarked), { api })
  return { sender, turned, sent: sent.messages.at(api === 'messages' ? 0 : 1) as Json }
}

function bodyOf(api: PromptApi, turns: readonly Json[], isMarked: boolean): { messages: readonly Json[] } {
  const cache_control = isMarked ? { type: 'ephemeral' } : undefined
  const system = [part('Answer from the documents.', cache_control)]
  const picture = { type: 'image', source: { data: 'AA' }, ...(isMarked && { cache_control }) }
  const called = { role: 'user', content: [picture, { type: 'text', text: 'Look.' }] }
  const messages = [...turns, ...(turns.length > 1 ? [called] : [])]
  const tools = [{ name: 'search', input_schema: {}, ...(isMarked && { cache_control }) }]
  const common = { tools, tool_choice: { type: 'none' } }
  return api === 'messages'
    ? ({ ...common, system, messages } as { messages: readonly Json[] })
    : { ...common, messages: [{ role: 'system', content: system, ...(isMarked && { cache_control }) }, ...messages] }
}

const textsOf = ({ content }: Json): unknown[] => (content as Json[]).map(({ text }) => text)

test.each<[PromptApi, string, boolean]>(
  (['chat_completions', 'messages'] as const).flatMap((api) =>
    Object.keys(forms).flatMap((form) =>
      [true, false].map((isFirst): [PromptApi, string, boolean] => [api, form, isFirst]),
    ),
  ),
)('in %s, %s: a turn is the same whether it is marked when it comes again or not (first: %s)', (api, form, isFirst) => {
  const { sender, sent } = sendTurned(api, forms[form]!, isFirst)
  const texts = documents.slice(0, 3).toReversed()
  const plain = forms[form]!(texts, () => undefined)
  expect(textsOf(sent)).not.toEqual(textsOf(plain))
  const take = (): unknown => (isFirst ? undefined : { type: 'ephemeral' })
  const again = forms[form]!(texts, take)
  const history = [again, { role: 'assistant', content: 'Much.' }, { role: 'user', content: 'And what else?' }]
  const { messages } = sender.sendBody(bodyOf(api, history, !isFirst), { api })
  expect(textsOf(messages[api === 'messages' ? 0 : 1]!)).toEqual(textsOf(sent))
  const predicted = [isFirst, !isFirst].map((isMarked) => {
    return sender.decide(bodyOf(api, [plain], isMarked), { api }).predictedCachedTokens
  })
  expect(predicted[0]).toBeGreaterThan(0)
  expect(predicted[1]).toBe(predicted[0])
})
