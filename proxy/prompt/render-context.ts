import { annotateOrder } from '#index/annotate-context.ts'
import type { ContextSlot, PromptContext } from './prompt-context.ts'

/**
 * The bytes of the block that is put into `slot`: those it was received with, but for a position label, which
 * belongs to the slot and stays there.
 */
export function renderBlock(
  texts: readonly string[],
  slot: ContextSlot,
  from: ContextSlot,
  positional: boolean,
): string {
  const text = texts[from.text]!
  if (slot === from || !positional || !from.label || !slot.label) return text.slice(from.start, from.end)
  const label = texts[slot.text]!.slice(slot.label.start, slot.label.end)
  return text.slice(from.start, from.label.start) + label + text.slice(from.label.end, from.end)
}

/** The order annotation for a context that is sent in `order`; undefined when nothing moved. */
export function renderAnnotation(
  texts: readonly string[],
  context: PromptContext,
  order: readonly number[],
): string | undefined {
  const { slots, positional, labelPrefix } = context
  const labels = order.map((from, place) => {
    const slot = slots[positional ? place : from]!
    if (!slot.label) return `[Doc_${place + 1}]`
    return `[${labelPrefix}${texts[slot.text]!.slice(slot.label.start, slot.label.end)}]`
  })
  return annotateOrder(order, labels)
}

/** An annotation set apart by blank lines, in the line ends of the text it goes into. */
export function setApart(text: string, offset: number, annotation: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const follows = text.slice(offset, offset + 1)
  const gap = follows === '' || follows === '\n' || follows === '\r' ? '' : newline + newline
  return newline + newline + annotation + gap
}
