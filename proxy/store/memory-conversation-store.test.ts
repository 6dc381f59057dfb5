import { expect, test } from 'vitest'
import type { BlockId } from '#index/context-block.ts'
import type { TurnKey } from '#index/conversation-store.ts'
import { MemoryConversationStore } from './memory-conversation-store.ts'

const blocks = (...ids: string[]): BlockId[] => ids as unknown as BlockId[]
const key = (name: string): TurnKey => name as TurnKey

test('a turn is recalled as it was sent', () => {
  const store = new MemoryConversationStore(10_000)
  const sent = { kind: 'ordered' as const, contexts: [{ order: [1, 0], annotation: 'x' }] }
  store.remember(key('a'), sent)
  expect(store.recall(key('a'))).toEqual(sent)
  expect(store.recall(key('b'))).toBeUndefined()
})

test('other explicit blocks make a turn ambiguous, for good; the same in another order do not', () => {
  const store = new MemoryConversationStore(10_000)
  store.remember(key('a'), { kind: 'explicit', text: 'one', blocks: blocks('x', 'y') })
  store.remember(key('a'), { kind: 'explicit', text: 'two', blocks: blocks('y', 'x') })
  expect(store.recall(key('a'))).toMatchObject({ kind: 'explicit', text: 'two' })
  store.remember(key('a'), { kind: 'explicit', text: 'three', blocks: blocks('x', 'z') })
  store.remember(key('a'), { kind: 'explicit', text: 'one', blocks: blocks('x', 'y') })
  expect(store.recall(key('a'))).toEqual({ kind: 'ambiguous' })
})

test('it stays within its bound and forgets what was used longest ago', () => {
  const store = new MemoryConversationStore(10_000)
  for (let i = 0; i < 100; i++) store.remember(key(String(i)), { kind: 'explicit', text: 'x'.repeat(500), blocks: [] })
  expect(store.recall(key('0'))).toBeUndefined()
  expect(store.recall(key('99'))).toBeDefined()
})
