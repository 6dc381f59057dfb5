import type { KnownTurns, SentOrder, SentTurn } from '#index/conversation-store.ts'

/** Returns the turns as if each had been sent as received. */
export function withTurnsAsReceived(turns: KnownTurns): KnownTurns {
  return {
    recall: (turn) => {
      const sent = turns.recall(turn)
      return sent && toReceived(sent)
    },
  }
}

function toReceived(sent: SentTurn): SentTurn {
  if (sent.kind === 'ordered') return { ...sent, contexts: sent.contexts.map(inOrder) }
  return sent.kind === 'explicit' ? { ...sent, context: inOrder(sent.context) } : sent
}

function inOrder({ order }: SentOrder): SentOrder {
  return { order: [...order.keys()], annotation: undefined, pointers: [] }
}
