import { LRUCache } from 'lru-cache'
import {
  type ConversationStore,
  mergeTurns,
  type SentOrder,
  type SentTurn,
  type TurnKey,
} from '#index/conversation-store.ts'

/** A conversation store in memory, bounded by total size; the least recently used turns are dropped first. */
export class MemoryConversationStore implements ConversationStore {
  readonly #turns: LRUCache<TurnKey, SentTurn>

  constructor(maxBytes: number) {
    this.#turns = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf })
  }

  recall(turn: TurnKey): SentTurn | undefined {
    return this.#turns.get(turn)
  }

  /** Recalls a turn without counting as a use of it. */
  peek(turn: TurnKey): SentTurn | undefined {
    return this.#turns.peek(turn)
  }

  /** All turns, most recently used first. */
  keys(): TurnKey[] {
    return [...this.#turns.keys()]
  }

  remember(turn: TurnKey, sent: SentTurn): void {
    this.#turns.set(turn, mergeTurns(this.#turns.peek(turn), sent))
  }

  forget(turn: TurnKey, sent: SentTurn): void {
    if (this.#turns.peek(turn) === sent) this.#turns.delete(turn)
  }
}

/** The approximate bytes of a turn in memory: key and entry, 8 per place, 2 per character. */
function sizeOf(turn: SentTurn): number {
  const base = 200
  switch (turn.kind) {
    case 'ambiguous':
      return base
    case 'explicit':
      return turn.blocks.reduce((size, block) => size + 32 + 2 * block.length, base + sizeOfOrder(turn.context))
    case 'ordered':
      return turn.contexts.reduce(
        (size, context) => size + sizeOfOrder(context),
        base + sizeOfSpans(turn.spans) + sizeOfSpans(turn.labels),
      )
  }
}

function sizeOfSpans(spans: readonly (readonly number[])[] = []): number {
  return spans.reduce((size, own) => size + 64 + 8 * own.length, 0)
}

function sizeOfOrder({ order, annotation, pointers }: SentOrder): number {
  const words = pointers.reduce((size, { text, hint: { begins = '', ends = '' } }) => {
    return size + 200 + 2 * (text.length + begins.length + ends.length)
  }, 0)
  return 64 + 8 * order.length + 2 * (annotation?.length ?? 0) + words
}
