import { expect, test } from 'vitest'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { Call } from '../call/call.ts'
import { HeavyTurns } from '../http/bounds/event-loop.ts'
import { readReceived } from '../http/receive/read-received.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { defaultWording } from '../prompt/wording.ts'
import { recallAhead } from './recall-ahead.ts'

const documents = ['one', 'two'].map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')
const body = Buffer.from(
  JSON.stringify({
    messages: [
      { role: 'user', content: `${documents}\n\nWhat?` },
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'And?' },
    ],
  }),
)
const call = {
  content: { received: readReceived('chat_completions', body, false, undefined) },
  settings: { mode: 'on', annotations: defaultWording, blocks: {} },
  caller: { tenant: 't' },
  conversation: undefined,
  options: {},
} as unknown as Call
const sent: SentTurn = { kind: 'ordered', contexts: [{ order: [1, 0], annotation: undefined, pointers: [] }] }

function create(find: (turns: ReadonlySet<TurnKey>, store: MemoryConversationStore) => void, isUp = true) {
  const store = new MemoryConversationStore(1_000_000)
  const asked: TurnKey[][] = []
  const fetch = async (turns: ReadonlySet<TurnKey>): Promise<void> => {
    asked.push([...turns])
    find(turns, store)
  }
  return { store, asked, pipeline: { store, sharedTurns: { isUp, fetch }, heavyTurns: new HeavyTurns(), now: () => 0 } }
}

test('turns that are not known are asked for once, all together, and only those that hold contexts', async () => {
  const { pipeline, asked } = create(() => {})
  const laidOut = (await recallAhead(pipeline, call))()
  // one key by everything before the turn, one by the turn alone; each also for a turn sent with something switched off
  expect(asked).toHaveLength(1)
  expect(asked[0]).toHaveLength(4)
  expect(laidOut?.layout?.prompts[0]?.messages).toHaveLength(3)
})

test('what was found makes the layout untrue: it is made anew', async () => {
  const { pipeline } = create((turns, store) => store.remember([...turns][0]!, sent))
  expect((await recallAhead(pipeline, call))()).toBeUndefined()
})

test('of equal requests that were looked up together, one follows what the other has sent meanwhile', async () => {
  const { pipeline, store, asked } = create(() => {})
  const [first, second] = await Promise.all([recallAhead(pipeline, call), recallAhead(pipeline, call)])
  expect(first()).toBeDefined()
  store.remember(asked[0]![0]!, sent)
  expect(second()).toBeUndefined()
})

test('nothing is asked for that is known, nor of a Redis that is away', async () => {
  const { pipeline, asked, store } = create((turns) => {
    for (const turn of turns) store.remember(turn, sent)
  })
  await recallAhead(pipeline, call)
  expect((await recallAhead(pipeline, call))()?.layout?.prompts[0]?.messages[0]?.past).toEqual(
    sent.kind === 'ordered' ? sent.contexts : [],
  )
  expect(asked).toHaveLength(1)
  const away = create(() => {}, false)
  expect((await recallAhead(away.pipeline, call))()).toBeUndefined()
  expect(away.asked).toEqual([])
  expect((await recallAhead({ ...away.pipeline, sharedTurns: undefined }, call))()).toBeUndefined()
})

test('a request that is left alone asks for nothing', async () => {
  const { pipeline, asked } = create(() => {})
  const off = { ...call, settings: { ...call.settings, mode: 'off' as const } }
  expect((await recallAhead(pipeline, off))()).toBeUndefined()
  expect(asked).toEqual([])
})

test.each([
  ['few messages is left to the decision', 8, '', 0],
  ['many messages yields to others once it takes long', 200, '', 5],
  ['many lines is laid out in slices that are no turns', 1, '\n'.repeat(120_000), 0],
])('a light request of %s', async (_title, messages, rest, turns) => {
  const content = (i: number): string => `${documents}\n\nWhy ${i}?${rest}`
  const asked = Array.from({ length: messages }, (_, i) => ({ role: 'user', content: content(i) }))
  const received = readReceived('chat_completions', Buffer.from(JSON.stringify({ messages: asked })), false)
  let time = 0
  let taken = 0
  const take = async (): Promise<void> => {
    taken += 1
  }
  const { pipeline } = create(() => {}, false)
  const laidOut = await recallAhead({ ...pipeline, heavyTurns: { take } as HeavyTurns, now: () => (time += 0.1) }, {
    ...call,
    content: { received },
  } as Call)
  expect(taken).toBeGreaterThanOrEqual(turns)
  expect(taken).toBeLessThanOrEqual(turns * 10)
  expect(laidOut()?.layout.prompts[0]?.messages.length).toBe(turns === 0 && rest === '' ? undefined : messages)
})
