import type { ConversationStore, SentOrder, SentTurn } from '#index/conversation-store.ts'
import type { LaidOutMessage, Layout } from '../prompt/layout.ts'

/** A layout whose past turns are as they would have been sent, had all that was only planned been sent. */
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
