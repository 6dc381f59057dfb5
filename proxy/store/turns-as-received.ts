import type { ConversationStore, SentOrder, SentTurn } from '#index/conversation-store.ts'

/** Returns the store as if each of its turns had been sent as received. */
export function withTurnsAsReceived(store: ConversationStore): ConversationStore {
  return {
    recall: (turn) => {
      const sent = store.recall(turn)
      return sent && toReceived(sent)
    },
    remember: (turn, sent) => store.remember(turn, sent),
    forget: (turn, sent) => store.forget(turn, sent),
  }
}

function toReceived(sent: SentTurn): SentTurn {
  if (sent.kind === 'ordered') return { ...sent, contexts: sent.contexts.map(inOrder) }
  return sent.kind === 'explicit' ? { ...sent, context: inOrder(sent.context) } : sent
}

function inOrder({ order }: SentOrder): SentOrder {
  return { order: [...order.keys()], annotation: undefined, pointers: [] }
}
