import { expect, test } from 'vitest'
import type { TurnKey } from '#index/conversation-store.ts'
import { MemoryConversationStore } from './memory-conversation-store.ts'

const key = (name: string): TurnKey => name as TurnKey

test('a turn is recalled as it was sent', () => {
  const store = new MemoryConversationStore(10_000)
  const sent = { kind: 'ordered' as const, contexts: [{ order: [1, 0], annotation: 'x' }] }
  store.remember(key('a'), sent)
  expect(store.recall(key('a'))).toEqual(sent)
  expect(store.recall(key('b'))).toBeUndefined()
})

test('explicit texts that differ make a turn ambiguous, for good', () => {
  const store = new MemoryConversationStore(10_000)
  store.remember(key('a'), { kind: 'explicit', text: 'one' })
  store.remember(key('a'), { kind: 'explicit', text: 'one' })
  expect(store.recall(key('a'))).toEqual({ kind: 'explicit', text: 'one' })
  store.remember(key('a'), { kind: 'explicit', text: 'two' })
  store.remember(key('a'), { kind: 'explicit', text: 'one' })
  expect(store.recall(key('a'))).toEqual({ kind: 'ambiguous' })
})

test('it stays within its bound and forgets what was used longest ago', () => {
  const store = new MemoryConversationStore(10_000)
  for (let i = 0; i < 100; i++) store.remember(key(String(i)), { kind: 'explicit', text: 'x'.repeat(500) })
  expect(store.recall(key('0'))).toBeUndefined()
  expect(store.recall(key('99'))).toBeDefined()
})
