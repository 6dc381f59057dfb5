import { type BlockId, toBlockId } from '#index/context-block.ts'
import { groupBy } from '#index/group-by.ts'
import type { Span } from '../../common/json/json-spans.ts'
import type { CertainBorders, CertainList, TextPart } from '../certain-list.ts'
import type { BlockSpan, ContextList } from '../context-list.ts'
import type { TemplateUse } from './template-use.ts'

/** A place in a prompt that holds one block. Offsets refer to text number `text` of the body. */
export interface ContextSlot extends Span {
  readonly text: number
  /** the block without tag, label and surrounding whitespace */
  readonly content: Span
  /** the part of the label that counts or names */
  readonly label?: Span | undefined
  /** names of fields that only rank it */
  readonly ranks?: readonly string[] | undefined
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

/** Converts a list found in `whole`, which may join several texts of a prompt, to a context of those texts. */
export function toContext(
  list: ContextList & Partial<CertainList>,
  whole: string,
  locate: (offset: number) => TextPart,
): PromptContext {
  const end = locate(list.end)
  const { positional, labelPrefix, certain } = list
  const contents = list.blocks.map(({ contentStart, contentEnd, label }) =>
    toBlockId(without(whole, contentStart, contentEnd, positional ? label : undefined)),
  )
  const context: PromptContext = {
    slots: list.blocks.map((block) => toSlot(block, locate(block.start))),
    blocks: list.blocks.map((block, i) => toBlockId(around(whole, block, positional, contents[i]!))),
    contents,
    positional,
    labelPrefix,
    // a list may end in the separator between two texts
    annotateAt: { text: end.text, offset: Math.min(list.end, end.end) - end.start },
    isResult: false,
  }
  return certain ? { certain, ...context } : context
}

/** Returns a stretch of a text, leaving out a position label inside it, as in JSON. */
function without(text: string, start: number, end: number, label: Span | undefined): string {
  if (!label || label.start < start || label.end > end) return text.slice(start, end)
  return `${text.slice(start, label.start)}\0${text.slice(label.end, end)}`
}

/**
 * Returns a whole block except a position label, with its content replaced by its identity. Blocks are the same if the
 * engine would see the same bytes.
 */
function around(text: string, block: BlockSpan, positional: boolean, content: BlockId): string {
  const label = positional ? block.label : undefined
  const front = without(text, block.start, block.contentStart, label)
  return `${front}\0${content}\0${without(text, block.contentEnd, block.end, label)}`
}

function toSlot(block: BlockSpan, part: TextPart): ContextSlot {
  const { text, start: at } = part
  const content = { start: block.contentStart - at, end: block.contentEnd - at }
  const label = block.label && { start: block.label.start - at, end: block.label.end - at }
  return { text, start: block.start - at, end: block.end - at, content, label, ranks: block.ranks }
}

/** Builds a context of unlabelled blocks. Without markup a block is its content and the whitespace around it. */
export function unlabelled(
  slots: readonly ContextSlot[],
  texts: readonly string[],
  { annotateAt, isResult = false }: Partial<Pick<PromptContext, 'annotateAt' | 'isResult'>> = {},
): PromptContext {
  return {
    slots,
    blocks: slots.map(({ text, start, end }) => toBlockId(texts[text]!.slice(start, end))),
    contents: slots.map(({ text, content }) => toBlockId(texts[text]!.slice(content.start, content.end))),
    positional: false,
    labelPrefix: '',
    annotateAt,
    isResult,
  }
}
