import { type BlockId, toBlockId } from '#index/context-block.ts'
import type { CertainList } from '../chunks/certain-list.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import type { BlockSpan, ContextList } from './judge/context-list.ts'

/** A list of a text that may be several texts of a prompt, as a context of these. */
export function toContext(
  list: ContextList & Partial<CertainList>,
  whole: string,
  locate: (offset: number) => { text: number; start: number },
): PromptContext {
  const end = locate(list.end)
  const { positional } = list
  const contents = list.blocks.map((block) => toBlockId(contentOf(whole, block, positional)))
  return {
    slots: list.blocks.map((block) => toSlot(block, locate(block.start))),
    blocks: list.blocks.map((block, i) => toBlockId(around(whole, block, positional, contents[i]!))),
    contents,
    positional,
    labelPrefix: list.labelPrefix,
    annotateAt: { text: end.text, offset: list.end - end.start },
    isResult: false,
    ...(list.certain && { certain: list.certain }),
  }
}

/** What a block holds; without a label that belongs to its place where that stands inside, as in JSON. */
function contentOf(text: string, { contentStart, contentEnd, label }: BlockSpan, positional: boolean): string {
  if (!positional || !label || label.start < contentStart || label.end > contentEnd) {
    return text.slice(contentStart, contentEnd)
  }
  return `${text.slice(contentStart, label.start)}\0${text.slice(label.end, contentEnd)}`
}

/**
 * All of a block but a label that belongs to its place, its content by its identity: blocks are the same when the
 * engine would see the same bytes.
 */
function around(text: string, block: BlockSpan, positional: boolean, content: BlockId): string {
  const { start, end, contentStart, contentEnd, label } = block
  const without = (from: number, to: number): string => {
    if (!positional || !label || label.start < from || label.end > to) return text.slice(from, to)
    return `${text.slice(from, label.start)}\0${text.slice(label.end, to)}`
  }
  return `${without(start, contentStart)}\0${content}\0${without(contentEnd, end)}`
}

function toSlot(block: BlockSpan, part: { text: number; start: number }): ContextSlot {
  const content = { start: block.contentStart - part.start, end: block.contentEnd - part.start }
  const slot = { text: part.text, start: block.start - part.start, end: block.end - part.start, content }
  if (!block.label) return slot
  return { label: { start: block.label.start - part.start, end: block.label.end - part.start }, ...slot }
}
