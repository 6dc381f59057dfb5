import type { BlockId } from '#index/context-block.ts'
import type { Span } from '../json-spans.ts'

/** A place in a prompt that holds one block. Offsets are in the text `text` of the prompt (a place in its texts). */
export interface ContextSlot extends Span {
  readonly text: number
  /** the part of the label that counts or names */
  readonly label?: Span
}

/** Consecutive blocks of one message: a context, as found in a prompt. */
export interface PromptContext {
  readonly message: number
  readonly slots: readonly ContextSlot[]
  readonly blocks: readonly BlockId[]
  /** labels count up: they stay in their slots when blocks move */
  readonly positional: boolean
  readonly labelPrefix: string
  /** where the order annotation goes */
  readonly annotateAt: { readonly text: number; readonly offset: number }
}
