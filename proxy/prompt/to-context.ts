import { type BlockId, toBlockId } from '#index/context-block.ts'
import type { Span } from '../common/json/json-spans.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import type { CertainList, TextPart } from './certain-list.ts'
import type { BlockSpan, ContextList } from './context-list.ts'

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
  const shift = ({ start, end }: Span): Span => ({ start: start - part.start, end: end - part.start })
  const content = shift({ start: block.contentStart, end: block.contentEnd })
  const { start, end } = shift(block)
  const slot = { text: part.text, start, end, content }
  const labelled = block.label ? { label: shift(block.label), ...slot } : slot
  return block.ranks ? { ranks: block.ranks, ...labelled } : labelled
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
