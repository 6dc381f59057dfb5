import { digestOf, type ScopeId } from './context-block.ts'
import type { SentPointer } from './dedup/deduplicate-context.ts'

declare const turnKey: unique symbol

/** How one context of a past message was sent. */
export interface SentOrder {
  /** for each position as sent, the position in the message as received */
  readonly order: readonly number[]
  readonly annotation: string | undefined
  /** content replaced by pointers because it is earlier in the prompt */
  readonly pointers: readonly SentPointer[]
}

/** How a past message was sent. */
export type SentTurn =
  | {
      readonly kind: 'ordered'
      readonly contexts: readonly SentOrder[]
      /** positions of blocks in lists that might not be found again, four numbers per block; missing without such a list */
      readonly spans?: readonly (readonly number[])[] | undefined
      /** by such a list: positions of the labels that count up, two numbers per block; missing without such labels */
      readonly labels?: readonly (readonly number[])[] | undefined
    }
  /** its blocks, in rank order, were given outside the messages */
  | { readonly kind: 'explicit'; readonly blocks: readonly string[]; readonly context: SentOrder }
  /** equal messages were sent with different explicit blocks, so we cannot know which of them a history had */
  | { readonly kind: 'ambiguous' }

/**
 * Identity of a tenant's message as the client sent it, either alone or with everything before it. If the conversation
 * is known, its identity and a dot come first, so that the records of one conversation can be stored together.
 */
export type TurnKey = string & { readonly [turnKey]: true }

/** Builds the key of a turn, including its conversation if that is known. */
export function toTurnKey(turn: ScopeId, conversation: ScopeId | undefined): TurnKey {
  return (conversation === undefined ? turn : `${conversation}.${turn}`) as string as TurnKey
}

/** Builds the key of a separate variant of a turn, in the same conversation. */
export function toVariantKey(turn: TurnKey, variant: string): TurnKey {
  const dot = turn.indexOf('.')
  return toTurnKey(digestOf(JSON.stringify([turn, variant])), dot < 0 ? undefined : (turn.slice(0, dot) as ScopeId))
}

/** Remembers how past turns were sent, so that a request that repeats them sends the same bytes. */
export interface ConversationStore {
  recall(turn: TurnKey): SentTurn | undefined
  /** Stores a turn. Different explicit blocks under the same key make the turn ambiguous. */
  remember(turn: TurnKey, sent: SentTurn): void
  /** Forgets a turn that was never sent after all, unless it has been remembered again since. */
  forget(turn: TurnKey, sent: SentTurn): void
}

/** Returns the record of a turn after it was sent again. */
export function mergeTurns(known: SentTurn | undefined, sent: SentTurn): SentTurn {
  if (sent.kind !== 'explicit' || !known) return sent
  return known.kind === 'explicit' && haveSameBlocks(known.blocks, sent.blocks) ? sent : { kind: 'ambiguous' }
}

/** Returns whether both lists contain the same blocks, in any order. */
export function haveSameBlocks(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  const [left, right] = [a.toSorted(), b.toSorted()]
  return left.every((block, i) => block === right[i])
}

/** What is known of past turns, where nothing is remembered. */
export type KnownTurns = Pick<ConversationStore, 'recall'>

/** Knows no turn. */
export const noKnownTurns: KnownTurns = { recall: () => undefined }
