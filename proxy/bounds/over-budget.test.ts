import { expect, test } from 'vitest'
import { type Decision, decide } from '../decide.ts'
import { writeBody } from '../prompt/prompt-body.ts'
import { readReceived } from '../read-received.ts'
import { Sender, userMessage } from '../sender.fixture.ts'
import { defaultWording } from '../wording.ts'

const bytes = { digest: 'a digest', length: 4_000 }
const sender = new Sender()

/** Decides about a request with a clock on which each look takes so long. */
function decideWithin(
  body: object,
  step: number,
  budgetMilliseconds: number | undefined,
): Decision & { sentBody: string } {
  let now = 0
  const received = { bytes, ...readReceived('chat_completions', Buffer.from(JSON.stringify(body)), false) }
  const decision = decide(
    {
      received,
      mode: 'on',
      tenant: 't',
      conversation: undefined,
      options: {},
      wording: defaultWording,
      budgetMilliseconds,
    },
    {
      candidates: [sender],
      store: sender.store,
      select: () => 0,
      now: () => {
        now += step
        return now
      },
    },
  )
  return { ...decision, sentBody: writeBody(received.prompt!, decision.splices ?? []).toString() }
}

const messages = Array.from({ length: 40 }, (_, i) => userMessage(`q${i}`, 'one', 'two', 'three'))

test('a request that takes longer than its budget goes as received, and the mirror is told what space it takes', () => {
  expect(decideWithin({ messages }, 100, 10)).toMatchObject({
    splices: undefined,
    skipped: 'too_large_to_rewrite',
    fault: undefined,
    blocks: 0,
    turns: new Map(),
    sent: [{ contexts: [], ends: [4_000], length: 4_000 }],
    promptTokens: 1_000,
  })
})

test('within its budget, or without one, it is rewritten', () => {
  for (const budget of [1_000_000, undefined]) expect(decideWithin({ messages }, 1, budget).blocks).toBe(120)
})

test('blocks that were given beside it are put in place, whatever it takes', () => {
  const reprise = { blocks: [{ text: 'first' }, { text: 'second' }] }
  const decision = decideWithin(
    { messages: [...messages, { role: 'user', content: '{{context}} q' }], reprise },
    100,
    10,
  )
  expect(decision.skipped).toBe('too_large_to_rewrite')
  const sent = JSON.parse(decision.sentBody)
  expect(sent.reprise).toBeUndefined()
  expect(sent.messages.at(-1).content).toBe('[Doc_1] first\n\n[Doc_2] second q')
})

test('one that is the same again is predicted to be cached, and no other is', () => {
  const { sent } = decideWithin({ messages }, 100, 10)
  sender.mirror.apply({ type: 'sent', request: 'r' as never, prompt: sent[0]! })
  expect(decideWithin({ messages }, 100, 10).predictedCachedTokens).toBe(1_000)
  expect(decideWithin({ messages }, 1, undefined).predictedCachedTokens).toBe(0)
})

test('more blocks than are put in order have a reason of their own', () => {
  const blocks = Array.from({ length: 5_000 }, (_, i) => `text ${i}`)
  expect(decideWithin({ messages: [userMessage('q', ...blocks)] }, 0, undefined).skipped).toBe('too_many_blocks')
})

test('a conversation that was rewritten goes on to be, whatever it takes', () => {
  const first = userMessage('q', 'one', 'two', 'three')
  const body = { messages: [first] }
  const { turns } = decideWithin(body, 1, undefined)
  for (const [key, turn] of turns) sender.store.remember(key, turn)
  const longer = { messages: [first, { role: 'assistant', content: 'An answer.' }, ...messages] }
  expect(decideWithin(longer, 100, 10)).toMatchObject({ skipped: 'nothing_to_gain', blocks: 123 })
})
