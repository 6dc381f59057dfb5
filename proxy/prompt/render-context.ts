import { annotateOrder } from '#index/dedup/annotate-context.ts'
import type { SentPointer } from '#index/dedup/deduplicate-context.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import type { Piece } from './body/text-splice.ts'
import type { Wording } from './wording.ts'

/**
 * Renders the block sent in `slot`: its bytes as received, except for a position label, which stays with the slot, and
 * for content replaced by pointers.
 */
export function renderBlock(
  texts: readonly string[],
  slot: ContextSlot,
  from: ContextSlot,
  positional: boolean,
  pointers: readonly SentPointer[],
): Piece[] {
  const { text, start, end } = from
  const label = slot !== from && positional && from.label ? slot.label : undefined
  const labelSplice = label && { start: from.label!.start, end: from.label!.end, piece: { text: slot.text, ...label } }
  const isElement = isJson(texts[text]!, from)
  const splices = pointers.map(({ start: first, end: last, text: words }) => ({
    start: from.content.start + first,
    end: from.content.start + last,
    // an element of a JSON array must remain one
    piece: (isElement ? JSON.stringify(words) : words) as Piece,
  }))
  if (labelSplice) splices.push(labelSplice)
  const pieces: Piece[] = []
  let at = start
  for (const splice of splices.sort((a, b) => a.start - b.start)) {
    pieces.push({ text, start: at, end: splice.start }, splice.piece)
    at = splice.end
  }
  return [...pieces, { text, start: at, end }]
}

/** Returns whether a block is a JSON object or string, from which no part can be taken. */
export function isJson(text: string, { content: { start, end } }: ContextSlot): boolean {
  const ends = text.slice(start, start + 1) + text.slice(end - 1, end)
  return ends === '{}' || (ends === '""' && end - start > 1)
}

/**
 * Returns the bracketed label of the block at each position when the context is sent in `order`; undefined for a block
 * without one.
 */
export function labelsAsSent(
  texts: readonly string[],
  context: PromptContext,
  order: readonly number[],
): (string | undefined)[] {
  const { slots, positional, labelPrefix } = context
  return order.map((from, place) => {
    const slot = slots[positional ? place : from]!
    return slot.label && `[${labelPrefix}${texts[slot.text]!.slice(slot.label.start, slot.label.end)}]`
  })
}

/**
 * Renders what is said after a context sent in `order`: its ranking, if anything moved. `labels`, by place, are those of
 * its blocks; those at places in `hidden` are not named, because they are not in the prompt. Returns undefined if there is
 * nothing to say or no place for words.
 */
export function renderAnnotation(
  { annotateAt }: PromptContext,
  order: readonly number[],
  labels: readonly (string | undefined)[],
  wording: Pick<Wording, 'order'>,
  hidden: ReadonlySet<number> = new Set(),
): string | undefined {
  if (!annotateAt) return undefined
  const shown = labels.map((label, place) => (hidden.has(place) ? undefined : label))
  return annotateOrder(order, shown, wording.order)
}

/** Sets an annotation apart with blank lines, using the line endings of the text it goes into. */
export function setApart(text: string, offset: number, annotation: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const follows = text.slice(offset, offset + 1)
  const gap = follows === '' || follows === '\n' || follows === '\r' ? '' : newline + newline
  return newline + newline + annotation + gap
}
