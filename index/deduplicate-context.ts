import { annotateLocation } from './annotate-context.ts'
import type { BlockId } from './context-block.ts'
import type { Overlap, ShownBlocks } from './shown-blocks.ts'

/** A stretch of a block's content that stands earlier in the same prompt, and the words sent in its place. */
export interface SentPointer {
  /** place of the block in its context, as sent */
  readonly place: number
  /** in characters of the block's content; all of it for a block that is repeated as a whole */
  readonly start: number
  readonly end: number
  readonly text: string
  /** the block that stands earlier, in full, and the label it stands under */
  readonly target: BlockId
  readonly label: string
}

/** A block as it is about to be sent. */
export interface FreshBlock {
  /** identity of its content alone, whatever its label and markup */
  readonly id: BlockId
  readonly content: string
  /** how it is spoken of, as `[Doc_1]` */
  readonly label: string
  /** it is pointed to as a whole or not at all */
  readonly isWhole: boolean
}

/** A stretch that is not all of a block has to be so many times longer than the words that point to it. */
const worthwhile = 2
const hintCharacters = 40

/**
 * De-duplicates one context (ContextPilot §6, Algorithm 3), its blocks in the order sent: a block that `shown` holds,
 * and longer stretches of whole lines that a block of `shown` holds, are pointed to if that is shorter. Blocks that are
 * sent in full are added to `shown`: only they are ever pointed to.
 */
export function deduplicateContext(
  blocks: readonly FreshBlock[],
  shown: ShownBlocks,
  template?: string,
): SentPointer[] {
  shown.beginContext(blocks.map(({ label }) => label))
  return blocks.flatMap((block, place) => {
    const pointers = pointersFor(block, shown, template).map((pointer) => ({ place, ...pointer }))
    if (pointers.length === 0) shown.add(block)
    return pointers
  })
}

/** Repeats what was decided when the context was sent before, as far as what it points to still stands there in full. */
export function repeatPointers(
  blocks: readonly FreshBlock[],
  past: readonly SentPointer[],
  shown: ShownBlocks,
): SentPointer[] {
  shown.beginContext(blocks.map(({ label }) => label))
  return blocks.flatMap((block, place) => {
    const own = past.filter((pointer) => pointer.place === place && holds(shown, block, pointer))
    if (own.length === 0) shown.add(block)
    return own
  })
}

function pointersFor(
  { id, content, isWhole }: FreshBlock,
  shown: ShownBlocks,
  template?: string,
): Omit<SentPointer, 'place'>[] {
  const whole = shown.find(id)
  if (whole) {
    const hint = shown.isAmbiguous(whole) ? ` (It begins: "${firstWords(content)}")` : ''
    const text = annotateLocation(whole.label, template) + hint
    return text.length < content.length ? [{ start: 0, end: content.length, text, target: id, label: whole.label }] : []
  }
  if (isWhole) return []
  return shown.findOverlaps(content).flatMap((overlap) => {
    const text = pointToPart(content, overlap, template)
    const length = overlap.end - overlap.start
    return length >= worthwhile * text.length
      ? [{ start: overlap.start, end: overlap.end, text, target: overlap.target.id, label: overlap.target.label }]
      : []
  })
}

function pointToPart(content: string, { start, end, target }: Overlap, template?: string): string {
  const part = content.slice(start, end)
  const words = `(From "${firstWords(part)}" to "${lastWords(part)}")`
  // the stretch is made of whole lines, and so is what takes its place
  return `${annotateLocation(target.label, template)} ${words}${part.endsWith('\n') ? '\n' : ''}`
}

/** Whether the words of a pointer still say what is true. */
function holds(shown: ShownBlocks, { content }: FreshBlock, { start, end, target, label }: SentPointer): boolean {
  const block = shown.find(target)
  if (block?.label !== label || end > content.length || start >= end) return false
  return block.content.includes(content.slice(start, end))
}

function firstWords(content: string): string {
  const words = content
    .slice(0, 4 * hintCharacters)
    .trim()
    .replace(/\s+/g, ' ')
  return words.length <= hintCharacters ? words : `${words.slice(0, hintCharacters).replace(/\s\S*$/, '')}…`
}

function lastWords(content: string): string {
  const words = content
    .slice(-4 * hintCharacters)
    .trim()
    .replace(/\s+/g, ' ')
  return words.length <= hintCharacters ? words : `…${words.slice(-hintCharacters).replace(/^\S*\s/, '')}`
}
