import type { SentOrder, TurnKey } from '#index/conversation-store.ts'
import type { PromptMessage } from './body/prompt.ts'
import type { PromptContext } from './body/prompt-context.ts'
import type { PlacedRefusal } from './find-contexts.ts'

/** Why the blocks that were given beside a past message are not put into it again. */
export type UnresolvedTurn = 'unknown_turn' | 'ambiguous_turn'

/** A message with its contexts found. */
export interface LaidOutMessage {
  readonly message: PromptMessage
  /** what names the message in the chat template, besides its texts */
  readonly identity: string
  readonly contexts: readonly PromptContext[]
  /** how its contexts were sent before, by place; none where they were not */
  readonly past: readonly (SentOrder | undefined)[]
  /** under what it is to be remembered */
  readonly keys: readonly TurnKey[]
  /** under what each of its contexts is to be remembered besides, as one that a longer prompt will hold too */
  readonly contextKeys?: readonly (readonly TurnKey[])[]
  /** the blocks that were given beside it */
  readonly explicit: readonly string[] | undefined
}

/** A prompt with its blocks in place, in the order received. */
export interface PromptLayout {
  readonly preamble: string
  readonly messages: readonly LaidOutMessage[]
}

/** All prompts of a body. */
export interface Layout {
  /** by place in `PromptSet.texts`, explicit blocks in place */
  readonly texts: readonly string[]
  readonly prompts: readonly PromptLayout[]
  /** why a placeholder in a past message stays one: its blocks are not known, or not for sure */
  readonly unresolved: UnresolvedTurn | undefined
  /** a text without contexts looks as if it held some */
  readonly isUnsure: boolean
  /** what looks like a list and is left alone */
  readonly refusals: readonly PlacedRefusal[]
}
