import { expect, test } from 'vitest'
import type { ConversationStore, SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'

const context: SentOrder = { order: [1, 0], annotation: 'x', pointers: [] }

/** A turn with explicit blocks. */
export const explicitTurn = (...blocks: string[]): SentTurn => ({ kind: 'explicit', blocks, context })
/** A turn whose blocks were ordered. */
export const orderedTurn = (...order: number[]): SentTurn => ({
  kind: 'ordered',
  contexts: [{ order, annotation: undefined, pointers: [] }],
})
/** The key of a turn in a conversation. */
export const turnNamed = (name: string): TurnKey => `conversation.${name}` as TurnKey

/** Tests what every conversation store does. `create` returns an empty one. */
export function describeConversationStore(
  name: string,
  create: () => ConversationStore | Promise<ConversationStore>,
): void {
  const [a, b] = [turnNamed('a'), turnNamed('b')]

  test(`${name}: a turn is recalled as it was sent`, async () => {
    const store = await create()
    const sent = orderedTurn(1, 0)
    store.remember(a, sent)
    expect(store.recall(a)).toEqual(sent)
    expect(store.recall(b)).toBeUndefined()
  })

  test(`${name}: a turn that was not sent is forgotten, unless it was remembered anew since`, async () => {
    const store = await create()
    const [mine, other] = [explicitTurn('x', 'y'), explicitTurn('x', 'y')]
    store.remember(a, mine)
    store.forget(a, mine)
    expect(store.recall(a)).toBeUndefined()
    store.remember(a, mine)
    store.remember(a, other)
    store.forget(a, mine)
    expect(store.recall(a)).toBe(other)
    store.forget(b, mine)
  })

  test(`${name}: other explicit blocks make a turn ambiguous, for good; the same in another order do not`, async () => {
    const store = await create()
    store.remember(a, explicitTurn('x', 'y'))
    store.remember(a, explicitTurn('y', 'x'))
    expect(store.recall(a)).toEqual(explicitTurn('y', 'x'))
    store.remember(a, explicitTurn('x', 'z'))
    store.remember(a, explicitTurn('x', 'y'))
    expect(store.recall(a)).toEqual({ kind: 'ambiguous' })
  })
}
