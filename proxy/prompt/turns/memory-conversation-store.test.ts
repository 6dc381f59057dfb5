import { expect, test } from 'vitest'
import { describeConversationStore, explicitTurn, turnNamed } from './conversation-store.contract.ts'
import { MemoryConversationStore } from './memory-conversation-store.ts'

describeConversationStore('in memory', () => new MemoryConversationStore(1_000_000))

test('it stays within its bound and forgets what was used longest ago', () => {
  const store = new MemoryConversationStore(10_000)
  for (let i = 0; i < 100; i++) store.remember(turnNamed(String(i)), explicitTurn('x'.repeat(500)))
  expect(store.recall(turnNamed('0'))).toBeUndefined()
  expect(store.recall(turnNamed('99'))).toBeDefined()
})

test('a turn that is only looked at is not used by that, and all are listed, those used last first', () => {
  const store = new MemoryConversationStore(3_000)
  for (const name of ['a', 'b']) store.remember(turnNamed(name), explicitTurn('x'.repeat(400)))
  expect(store.peek(turnNamed('a'))).toEqual(explicitTurn('x'.repeat(400)))
  expect(store.keys()).toEqual([turnNamed('b'), turnNamed('a')])
  store.remember(turnNamed('c'), explicitTurn('x'.repeat(400)))
  expect(store.peek(turnNamed('a'))).toBeUndefined()
})
