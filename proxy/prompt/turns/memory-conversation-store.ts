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

/** The approximate bytes of a turn in memory: key and entry, 2 per character, 8 per number. */
function sizeOf(turn: SentTurn): number {
  if (turn.kind === 'ambiguous') return 264
  if (turn.kind === 'explicit')
    return turn.blocks.reduce((size, block) => size + 32 + 2 * block.length, 264 + sizeOfOrder(turn.context))
  const { contexts, spans = [], labels = [] } = turn
  const numbers = [...spans, ...labels].reduce((sum, own) => sum + own.length, 0)
  return contexts.reduce((size, context) => size + sizeOfOrder(context), 264 + 8 * numbers)
}

function sizeOfOrder({ order, annotation = '', pointers }: SentOrder): number {
  const text = pointers.length > 0 ? JSON.stringify(pointers) : ''
  return 64 + 8 * order.length + 2 * (annotation.length + text.length)
}
