import { expect, test } from 'vitest'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { MemoryConversationStore } from './memory-conversation-store.ts'

const context: SentOrder = { order: [1, 0], annotation: 'x', pointers: [] }
const explicit = (...blocks: string[]): SentTurn => ({ kind: 'explicit', blocks, context })
const key = (name: string): TurnKey => name as TurnKey

test('a turn that was not sent is forgotten, unless it was remembered anew since', () => {
  const store = new MemoryConversationStore(1_000_000)
  const [mine, other] = [explicit('x', 'y'), explicit('x', 'y')]
  store.remember(key('a'), mine)
  store.forget(key('a'), mine)
  expect(store.recall(key('a'))).toBeUndefined()
  store.remember(key('a'), mine)
  store.remember(key('a'), other)
  store.forget(key('a'), mine)
  expect(store.recall(key('a'))).toBe(other)
  store.forget(key('b'), mine)
})

test('a turn is recalled as it was sent', () => {
  const store = new MemoryConversationStore(10_000)
  const sent = { kind: 'ordered' as const, contexts: [context] }
  store.remember(key('a'), sent)
  expect(store.recall(key('a'))).toEqual(sent)
  expect(store.recall(key('b'))).toBeUndefined()
})

test('other explicit blocks make a turn ambiguous, for good; the same in another order do not', () => {
  const store = new MemoryConversationStore(10_000)
  store.remember(key('a'), explicit('x', 'y'))
  store.remember(key('a'), explicit('y', 'x'))
  expect(store.recall(key('a'))).toEqual(explicit('y', 'x'))
  store.remember(key('a'), explicit('x', 'z'))
  store.remember(key('a'), explicit('x', 'y'))
  expect(store.recall(key('a'))).toEqual({ kind: 'ambiguous' })
})

test('it stays within its bound and forgets what was used longest ago', () => {
  const store = new MemoryConversationStore(10_000)
  for (let i = 0; i < 100; i++) store.remember(key(String(i)), explicit('x'.repeat(500)))
  expect(store.recall(key('0'))).toBeUndefined()
  expect(store.recall(key('99'))).toBeDefined()
})
