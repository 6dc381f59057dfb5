import { LRUCache } from 'lru-cache'
import { type ConversationStore, mergeTurns, type SentTurn, type TurnKey } from '#index/conversation-store.ts'

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

/** The approximate bytes of a turn in memory: key and entry, 2 per character. */
function sizeOf(turn: SentTurn): number {
  const [blocks, orders] = turn.kind === 'explicit' ? [turn.blocks, turn.context] : [[], turn]
  return blocks.reduce((size, block) => size + 32 + 2 * block.length, 264 + 2 * JSON.stringify(orders).length)
}
