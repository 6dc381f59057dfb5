import type { BlockId, ScopeId } from './context-block.ts'

/** How one context of a past message was sent. */
export interface SentOrder {
  /** place in the message as received, for each place as sent */
  readonly order: readonly number[]
  readonly annotation: string | undefined
}

/** How a past message was sent. */
export type SentTurn =
  | { readonly kind: 'ordered'; readonly contexts: readonly SentOrder[] }
  /** its blocks were given beside the messages: the whole text that held them, as last sent */
  | { readonly kind: 'explicit'; readonly text: string; readonly blocks: readonly BlockId[] }
  /** equal messages were sent with different explicit blocks: which belong to a history cannot be told */
  | { readonly kind: 'ambiguous' }

/** Identity of a message together with everything in front of it, as the client sent it, and of its tenant. */
export type TurnKey = ScopeId

/** Remembers how past turns were sent, so that a later request that repeats them sends the same bytes. */
export interface ConversationStore {
  recall(turn: TurnKey): SentTurn | undefined
  /** Keeps a turn; other explicit blocks under the same key make the turn ambiguous. */
  remember(turn: TurnKey, sent: SentTurn): void
}

/** What is known of a turn once it was sent again. */
export function mergeTurns(known: SentTurn | undefined, sent: SentTurn): SentTurn {
  if (sent.kind !== 'explicit' || !known) return sent
  return known.kind === 'explicit' && haveSameBlocks(known.blocks, sent.blocks) ? sent : { kind: 'ambiguous' }
}

function haveSameBlocks(a: readonly BlockId[], b: readonly BlockId[]): boolean {
  return a.toSorted().join(' ') === b.toSorted().join(' ')
}
