import type { ConversationStore, SentOrder, SentTurn } from '#index/conversation-store.ts'
import type { LaidOutMessage, Layout } from '../prompt/layout.ts'

/** Returns the layout with past turns as they would have been sent if everything planned had been sent. */
export function withPlannedTurns(layout: Layout, turns: Pick<ConversationStore, 'recall'>): Layout {
  const prompts = layout.prompts.map((prompt) => ({
    ...prompt,
    messages: prompt.messages.map((message) => ({ ...message, past: recall(message, turns) ?? message.past })),
  }))
  return { ...layout, prompts }
}

function recall({ keys }: LaidOutMessage, turns: Pick<ConversationStore, 'recall'>): readonly SentOrder[] | undefined {
  for (const key of keys) {
    const planned = turns.recall(key)
    if (planned) return ordersOf(planned)
  }
  return undefined
}

function ordersOf(turn: SentTurn): readonly SentOrder[] | undefined {
  if (turn.kind === 'ordered') return turn.contexts
  return turn.kind === 'explicit' ? [turn.context] : undefined
}
