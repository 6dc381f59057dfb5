import type { BlockId } from '#index/context-block.ts'
import { groupBy } from '#index/group-by.ts'
import type { Span } from '../../common/json/json-spans.ts'
import type { CertainBorders } from '../certain-list.ts'
import type { TemplateUse } from './template-use.ts'

/** A place in a prompt that holds one block. Offsets refer to text number `text` of the body. */
export interface ContextSlot extends Span {
  readonly text: number
  /** the block without tag, label and surrounding whitespace */
  readonly content: Span
  /** the part of the label that counts or names */
  readonly label?: Span
  /** names of fields that only rank it */
  readonly ranks?: readonly string[]
}

/** A slot and the content of its block. */
export interface HeldSlot {
  readonly slot: ContextSlot
  readonly content: BlockId
}

/** Groups the slots of contexts by their text, in order. */
export function slotsByText(contexts: readonly PromptContext[]): ReadonlyMap<number, readonly HeldSlot[]> {
  const held = contexts.flatMap(({ slots, contents }) => slots.map((slot, i) => ({ slot, content: contents[i]! })))
  return groupBy(held, ({ slot }) => slot.text)
}

/** A context found in a prompt: consecutive blocks of one message. */
export interface PromptContext {
  readonly slots: readonly ContextSlot[]
  /** by block: identity of what the engine sees, which is the whole block except its position label */
  readonly blocks: readonly BlockId[]
  /** by block: identity of what a reader sees, which is the content alone */
  readonly contents: readonly BlockId[]
  /** labels count up and stay in their slots when blocks move */
  readonly positional: boolean
  readonly labelPrefix: string
  /** where the order annotation goes; undefined if there is no place for words, as in a JSON array */
  readonly annotateAt: { readonly text: number; readonly offset: number } | undefined
  /** a tool's output as one block: it is recognised again, but never moves */
  readonly isResult: boolean
  /** output of a tool that does not search, such as a file or what a command printed; its lines are counted */
  readonly isCounted?: boolean
  /** words that are sent unchanged refer to its blocks by position, so the blocks keep the order received */
  readonly isSpokenOf?: boolean
  /** its last block may go on behind its end, since nothing closes it and more than the question follows: it stays last */
  readonly keepsLast?: boolean
  /** the template that it is of, if it needs permission to move; undefined: it was stated, or all may move */
  readonly template?: TemplateUse | undefined
  /** the task is about its texts themselves or their order, so that nothing of them is left out */
  readonly isLeftWhole?: boolean
  /** source of its borders, if no mark in the prompt shows them */
  readonly certain?: CertainBorders | undefined
}

/** Whether the blocks of a context stay as received: words forbid a move, or nothing permits one yet. */
export function isLeftAlone({ isSpokenOf, template }: PromptContext): boolean {
  return isSpokenOf === true || template?.mayMove === false
}

/**
 * Returns the position labels of a context. Blocks without labels are counted from 1. Empty if labels move with blocks.
 */
export function placeLabels({ slots, positional }: PromptContext, texts: readonly string[]): string[] {
  if (positional) return slots.map(({ text, label }) => texts[text]!.slice(label!.start, label!.end))
  return slots.some(({ label }) => label) ? [] : slots.map((_, place) => String(place + 1))
}
