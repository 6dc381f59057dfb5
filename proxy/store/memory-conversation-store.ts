import { LRUCache } from 'lru-cache'
import { type ConversationStore, mergeTurns, type SentTurn, type TurnKey } from '#index/conversation-store.ts'

/** A conversation store in memory, bounded by the size of what it keeps; the turns used longest ago go first. */
export class MemoryConversationStore implements ConversationStore {
  readonly #turns: LRUCache<TurnKey, SentTurn>

  constructor(maxBytes: number) {
    this.#turns = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf })
  }

  recall(turn: TurnKey): SentTurn | undefined {
    return this.#turns.get(turn)
  }

  remember(turn: TurnKey, sent: SentTurn): void {
    this.#turns.set(turn, mergeTurns(this.#turns.peek(turn), sent))
  }
}

/** Bytes a turn takes in memory, about: key and entry, 8 a place, 2 a character. */
function sizeOf(turn: SentTurn): number {
  const base = 200
  if (turn.kind === 'explicit') return base + 2 * turn.text.length + 32 * turn.blocks.length
  if (turn.kind === 'ambiguous') return base
  return turn.contexts.reduce(
    (size, sent) => size + 64 + 8 * sent.order.length + 2 * (sent.annotation?.length ?? 0),
    base,
  )
}
