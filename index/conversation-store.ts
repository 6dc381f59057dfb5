import { digestOf, type ScopeId } from './context-block.ts'
import type { SentPointer } from './dedup/deduplicate-context.ts'

declare const turnKey: unique symbol

/** How one context of a past message was sent. */
export interface SentOrder {
  /** place in the message as received, for each place as sent */
  readonly order: readonly number[]
  readonly annotation: string | undefined
  /** fields that ranked its blocks were cut out of them */
  readonly isCut?: true
  /** what stood earlier in the prompt and was pointed to instead */
  readonly pointers: readonly SentPointer[]
}

/** How a past message was sent. */
export type SentTurn =
  | {
      readonly kind: 'ordered'
      readonly contexts: readonly SentOrder[]
      /** where the blocks of lists stood whose borders no mark shows, four numbers a block: none, where it has no such list */
      readonly spans?: readonly (readonly number[])[] | undefined
    }
  /** its blocks, in rank order, were given beside the messages */
  | { readonly kind: 'explicit'; readonly blocks: readonly string[]; readonly context: SentOrder }
  /** equal messages were sent with different explicit blocks: which belong to a history cannot be told */
  | { readonly kind: 'ambiguous' }

/**
 * Identity of a message, as the client sent it, with all in front of it or alone, and of its tenant; behind that of the
 * conversation it belongs to, where that is known, and a dot: what is kept of one conversation can be kept in one place.
 */
export type TurnKey = string & { readonly [turnKey]: true }

/** Names a turn, and the conversation it belongs to if that is known. */
export function toTurnKey(turn: ScopeId, conversation: ScopeId | undefined): TurnKey {
  return (conversation === undefined ? turn : `${conversation}.${turn}`) as string as TurnKey
}

/** Names a turn as it was sent in a variant of its own; it belongs to the same conversation. */
export function toVariantKey(turn: TurnKey, variant: string): TurnKey {
  const dot = turn.indexOf('.')
  return toTurnKey(digestOf(JSON.stringify([turn, variant])), dot < 0 ? undefined : (turn.slice(0, dot) as ScopeId))
}

/** Remembers how past turns were sent, so that a later request that repeats them sends the same bytes. */
export interface ConversationStore {
  recall(turn: TurnKey): SentTurn | undefined
  /** Keeps a turn; other explicit blocks under the same key make the turn ambiguous. */
  remember(turn: TurnKey, sent: SentTurn): void
  /** Forgets a turn that was never sent after all, unless it has been remembered anew since. */
  forget(turn: TurnKey, sent: SentTurn): void
}

/** What is known of a turn once it was sent again. */
export function mergeTurns(known: SentTurn | undefined, sent: SentTurn): SentTurn {
  if (sent.kind !== 'explicit' || !known) return sent
  return known.kind === 'explicit' && haveSameBlocks(known.blocks, sent.blocks) ? sent : { kind: 'ambiguous' }
}

/** Whether these are the same blocks, in whatever order. */
export function haveSameBlocks(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  const [left, right] = [a.toSorted(), b.toSorted()]
  return left.every((block, i) => block === right[i])
}
