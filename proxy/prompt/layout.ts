import type { SentOrder, TurnKey } from '#index/conversation-store.ts'
import type { Splice } from '../common/json/json-spans.ts'
import type { PromptMessage } from './body/prompt.ts'
import type { PromptContext } from './body/prompt-context.ts'
import type { PlacedRefusal } from './find-contexts.ts'

/** Why the explicit blocks of a past message are not inserted again. */
export type UnresolvedTurn = 'unknown_turn' | 'ambiguous_turn'

/** A message and the contexts found in it. */
export interface LaidOutMessage {
  readonly message: PromptMessage
  /** what identifies the message in the chat template, apart from its texts */
  readonly identity: string
  readonly contexts: readonly PromptContext[]
  /** how each of its contexts was sent before, by index; undefined or missing if it was not */
  readonly past: readonly (SentOrder | undefined)[]
  /** keys to remember the turn by */
  readonly keys: readonly TurnKey[]
  /** additional keys to remember each of its contexts by, because a longer prompt will contain it too */
  readonly contextKeys?: readonly (readonly TurnKey[])[]
  /** by index of its texts: labels in them that are sent otherwise, as the engine reads the lists before it */
  readonly translations?: ReadonlyMap<number, readonly Splice[]>
  /** blocks that were given for it outside the messages */
  readonly explicit: readonly string[] | undefined
}

/** Says which template each list of a prompt is of, and whether it may be moved. */
export type PermitLists = (messages: readonly LaidOutMessage[], texts: readonly string[]) => readonly LaidOutMessage[]

/** A prompt with its explicit blocks inserted, in the order received. */
export interface PromptLayout {
  readonly preamble: string
  readonly messages: readonly LaidOutMessage[]
}

export interface Layout {
  /** by index in `PromptSet.texts`, with explicit blocks inserted */
  readonly texts: readonly string[]
  readonly prompts: readonly PromptLayout[]
  /** why a placeholder in a past message was left: its blocks are unknown or ambiguous */
  readonly unresolved: UnresolvedTurn | undefined
  /** a text without contexts looks as if it had some */
  readonly isUnsure: boolean
  /** list-like stretches that were left alone */
  readonly refusals: readonly PlacedRefusal[]
}
