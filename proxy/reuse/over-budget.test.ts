import { expect, test } from 'vitest'
import { readReceived } from '../http/receive/read-received.ts'
import { writeBody } from '../prompt/body/prompt-body.ts'
import { finish } from '../prompt/finish.ts'
import { defaultWording } from '../prompt/wording.ts'
import { Sender, userMessage } from '../request/sender.fixture.ts'
import { decide } from './decide.ts'
import type { Decision, DecisionInput, DecisionState } from './decision.ts'
import { layOut } from './lay-out-request.ts'

const scan = { digest: () => 'a digest', bytes: Buffer.alloc(4_000) }
const sender = new Sender()

/** Decides about a request with a clock that advances by `step` milliseconds per reading. */
function decideWithin(
  body: object,
  step: number,
  budgetMilliseconds: number | undefined,
  candidates: readonly Sender[] = [sender],
  select: DecisionState['select'] = () => 0,
  isLaidOut = false,
): Decision & { sentBody: string } {
  let time = 0
  const received = { scan, ...readReceived('chat_completions', Buffer.from(JSON.stringify(body)), false) }
  const input: DecisionInput = {
    received,
    mode: 'on',
    tenant: 'default',
    conversation: undefined,
    options: {},
    wording: defaultWording,
    budgetMilliseconds,
  }
  const { store } = sender
  const now = (): number => {
    time += step
    return time
  }
  const laidOut = isLaidOut ? finish(layOut(input, { store })) : undefined
  const decision = decide({ ...input, laidOut }, { candidates, store, select, now })
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
  expect(decision).toMatchObject({ skipped: 'too_large_to_rewrite', blocks: 122, moved: 0 })
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
  sender.sendBody({ messages: [userMessage('q', 'three', 'two', 'one')] })
  const { turns, moved } = decideWithin(body, 1, undefined)
  expect(moved).toBe(2)
  for (const [key, turn] of turns) sender.store.remember(key, turn)
  const longer = { messages: [first, { role: 'assistant', content: 'An answer.' }, ...messages] }
  expect(decideWithin(longer, 100, 10)).toMatchObject({ skipped: 'too_large_to_rewrite', blocks: 123, moved: 2 })
  expect(decideWithin(longer, 1, 1_000_000)).toMatchObject({ skipped: undefined, blocks: 123, moved: 2 })
})

test('what went as received because it took too long stays as it was when the conversation goes on', () => {
  const texts = ['one', 'two', 'three', 'four']
  // another order of these is cached after the same beginning
  sender.sendBody({ messages: [userMessage('before', ...texts)] })
  const turn = { messages: [userMessage('now', ...texts.toReversed()), ...messages] }
  const sent = decideWithin(turn, 100, 10, [sender], () => 0, true)
  expect(sent).toMatchObject({ skipped: 'too_large_to_rewrite', splices: undefined })
  for (const [key, past] of sent.turns) sender.store.remember(key, past)
  const next = [...turn.messages, { role: 'assistant', content: 'so' }, { role: 'user', content: 'and?' }]
  expect(decideWithin({ messages: next }, 1, undefined)).toMatchObject({ splices: undefined, moved: 0 })
  // if that takes too long it is given up again, and is sent as before
  expect(decideWithin({ messages: next }, 100, 10)).toMatchObject({ skipped: 'too_large_to_rewrite', blocks: 0 })
})

test('a message of very many blocks is given up while it is written, not behind it', () => {
  const blocks = Array.from({ length: 2_000 }, (_, i) => `text ${(i * 1_987) % 2_003}`)
  const body = { messages: [userMessage('q', ...blocks)] }
  expect(decideWithin(body, 1, 50).skipped).toBe('too_large_to_rewrite')
  expect(decideWithin(body, 1, 1_000)).toMatchObject({ skipped: 'nothing_to_gain', blocks: 2_000 })
})

test('blocks that were given beside a request that takes too long can be gone on with', () => {
  const reprise = { blocks: [{ text: 'first' }, { text: 'second' }], conversation: 'c' }
  const asked = { role: 'user', content: '{{context}} q' }
  const { turns } = decideWithin({ messages: [...messages, asked], reprise }, 100, 10)
  for (const [key, turn] of turns) sender.store.remember(key, turn)
  const answered = [...messages, asked, { role: 'assistant', content: 'so' }, { role: 'user', content: 'and?' }]
  const { sentBody } = decideWithin({ messages: answered, reprise: { conversation: 'c' } }, 1, undefined)
  expect(JSON.parse(sentBody).messages.at(-3).content).toBe('[Doc_1] first\n\n[Doc_2] second q')
})

test('routes to other replicas are planned for as long as there is time, and one at least', () => {
  const reprise = { blocks: [{ text: 'first' }, { text: 'second' }] }
  const body = { messages: [...messages, { role: 'user', content: '{{context}} q' }], reprise }
  const routed = (step: number): number => {
    let planned = 0
    decideWithin(body, step, 10, [sender, sender, sender], (routes) => {
      planned = routes.length
      return 0
    })
    return planned
  }
  expect([routed(100), routed(0)]).toEqual([1, 3])
})
