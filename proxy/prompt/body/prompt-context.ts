import type { BlockId } from '#index/context-block.ts'
import type { CertainBorders } from '../../chunks/certain-list.ts'
import type { Span } from '../../json/json-spans.ts'
import type { RankField } from '../scan/find-rank-fields.ts'

/** A place in a prompt that holds one block. Offsets are in the text `text` of the body (a place in its texts). */
export interface ContextSlot extends Span {
  readonly text: number
  /** the block without tag, label and the space around it */
  readonly content: Span
  /** the part of the label that counts or names */
  readonly label?: Span
  /** fields that only rank it, in order */
  readonly ranks?: readonly RankField[]
}

/** A slot and what its block holds. */
export interface HeldSlot {
  readonly slot: ContextSlot
  readonly content: BlockId
}

/** The slots of contexts by the text that they stand in, in order. */
export function slotsByText(contexts: readonly PromptContext[]): ReadonlyMap<number, readonly HeldSlot[]> {
  const byText = new Map<number, HeldSlot[]>()
  for (const { slots, contents } of contexts) {
    for (const [i, slot] of slots.entries()) {
      const held = byText.get(slot.text)
      if (held) held.push({ slot, content: contents[i]! })
      else byText.set(slot.text, [{ slot, content: contents[i]! }])
    }
  }
  return byText
}

/** What fields said that have been cut out of blocks. */
export interface CutRanks {
  /** by slot, as `score 0.91` */
  readonly values: readonly string[]
  /** whether the prompt tells them in another place */
  readonly areTold: boolean
}

/** Consecutive blocks of one message: a context, as found in a prompt. */
export interface PromptContext {
  readonly slots: readonly ContextSlot[]
  /** what an engine would see the same: all of a block but its place */
  readonly blocks: readonly BlockId[]
  /** what a reader would see the same: the contents alone */
  readonly contents: readonly BlockId[]
  /** labels count up: they stay in their slots when blocks move */
  readonly positional: boolean
  readonly labelPrefix: string
  /** where the order annotation goes; undefined where there is no place for words, as in an array of JSON */
  readonly annotateAt: { readonly text: number; readonly offset: number } | undefined
  /** what a tool said is one block: it is found again, but stays where it is */
  readonly isResult: boolean
  /** a tool said it that searches nothing: it is a file, or what a command printed, and its lines are counted */
  readonly isCounted?: boolean
  /** words that are sent as they are name its blocks by their place: they stay in the order received */
  readonly isSpokenOf?: boolean
  /** fields that ranked its blocks have been cut out of its texts: what they said, by slot; undefined: as received */
  readonly cut?: CutRanks | undefined
  /** where its borders come from, where no mark in the prompt shows them */
  readonly certain?: CertainBorders | undefined
}

/** The labels that belong to the places of a context; blocks without any can be counted. */
export function placeLabels({ slots, positional }: PromptContext, texts: readonly string[]): string[] {
  if (positional) return slots.map(({ text, label }) => texts[text]!.slice(label!.start, label!.end))
  return slots.some(({ label }) => label) ? [] : slots.map((_, place) => String(place + 1))
}
