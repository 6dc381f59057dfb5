import type { BlockId } from '../context-block.ts'
import { annotateLocation } from './annotate-context.ts'
import { headOf } from './hint-words.ts'
import type { LabelBearer } from './label-bearers.ts'
import { isOneStretch, type PointerHint, type PointerWords, pointToBlock, pointToPart } from './point-to-block.ts'
import type { Overlap, ShownBlock, ShownBlocks } from './shown-blocks.ts'

/** A stretch of a block's content that stands earlier in the same prompt, and the words sent in its place. */
export interface SentPointer {
  /** place of the block in its context, as sent */
  readonly place: number
  /** in characters of the block's content; all of it for a block that is repeated as a whole */
  readonly start: number
  readonly end: number
  readonly text: string
  /** the block that stands earlier, in full, the label it stands under, and what is said besides that label */
  readonly target: BlockId
  readonly label: string
  readonly hint: PointerHint
}

/** A block as it is about to be sent. */
export interface FreshBlock {
  /** identity of its content alone, whatever its label and markup */
  readonly id: BlockId
  /** as received: stretches are counted in it */
  readonly content: string
  /** as it is sent in full, where that differs: with the label of its place, if that stands inside */
  readonly sent?: string
  /** how it is spoken of, as `[Doc_1]` */
  readonly label: string
  /** whether that label stands in the prompt */
  readonly isLabelled: boolean
  /** Whether it is pointed to as a whole or not at all. */
  readonly isWhole: () => boolean
}

/** A stretch that is not all of a block has to be so many times longer than the words that point to it. */
const worthwhile = 2
/** A block in more pieces than that is better read in full. */
const mostPointers = 16

/**
 * De-duplicates one context (ContextPilot §6, Algorithm 3), its blocks in the order sent: a block that `shown` holds,
 * and longer stretches of whole lines that a block of `shown` holds, are pointed to if that is shorter, and if the
 * words can be taken for nothing else. Blocks that are sent in full are added to `shown`: only they are ever pointed to.
 */
export function deduplicateContext(
  blocks: readonly FreshBlock[],
  shown: ShownBlocks,
  template?: string,
): SentPointer[] {
  return writeContext(blocks, shown, (block, self) => pointersFor(block, self, shown, template))
}

/** Repeats what was decided when the context was sent before, as far as what it points to still stands there in full. */
export function repeatPointers(
  blocks: readonly FreshBlock[],
  past: readonly SentPointer[],
  shown: ShownBlocks,
): SentPointer[] {
  return writeContext(blocks, shown, (block, self, place) =>
    past.filter((pointer) => pointer.place === place && holds(shown, block, self, pointer)),
  )
}

type Placeless = Omit<SentPointer, 'place'>

function writeContext(
  blocks: readonly FreshBlock[],
  shown: ShownBlocks,
  point: (block: FreshBlock, self: LabelBearer, place: number) => readonly Placeless[],
): SentPointer[] {
  const bearers = shown.beginContext(blocks.map(asShown))
  return blocks.flatMap((block, place) => {
    const pointers = point(block, bearers[place]!, place).map((pointer) => ({ place, ...pointer }))
    if (pointers.length === 0) shown.add(asShown(block))
    else bearers[place]!.replace(withoutStretches(block.content, pointers))
    return pointers
  })
}

function pointersFor(block: FreshBlock, self: LabelBearer, shown: ShownBlocks, template?: string): Placeless[] {
  const { id, content, isWhole } = block
  const target = shown.find(id)
  if (target) {
    // no pointer is shorter than where it points to
    if (content.length <= annotateLocation(target.label, template).length) return []
    const words = pointToBlock({ self, target }, shown, template)
    const pays = words && words.text.length < content.length
    return pays ? [toPointer({ start: 0, end: content.length }, target, words)] : []
  }
  const overlaps = shown.findOverlaps(content)
  if (overlaps.length === 0 || isWhole()) return []
  return longestOf(overlaps).flatMap(({ start, end, target }) => {
    const part = content.slice(start, end)
    const words = pointToPart({ self, target }, part, shown, template)
    return words && part.length >= worthwhile * words.text.length ? [toPointer({ start, end }, target, words)] : []
  })
}

/** The longest stretches, as many as may be pointed to, in order. */
function longestOf(overlaps: readonly Overlap[]): readonly Overlap[] {
  if (overlaps.length <= mostPointers) return overlaps
  const longest = overlaps.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, mostPointers)
  return longest.sort((a, b) => a.start - b.start)
}

function toPointer(
  { start, end }: Pick<SentPointer, 'start' | 'end'>,
  { id, label }: ShownBlock,
  { text, hint }: PointerWords,
): Placeless {
  return { start, end, text, target: id, label, hint }
}

/** Whether the words of a pointer still say what is true, and nothing else. */
function holds(shown: ShownBlocks, { id, content }: FreshBlock, self: LabelBearer, pointer: SentPointer): boolean {
  const { start, end, target: targetId, label, hint } = pointer
  const target = shown.find(targetId)
  if (target?.label !== label || end > content.length || start >= end) return false
  const isThere = targetId === id ? end - start === content.length : target.content.includes(content.slice(start, end))
  if (!isThere || !isOneStretch({ self, target }, hint, shown)) return false
  return hint.ends !== undefined || hint.begins === undefined || headOf(target.content).startsWith(hint.begins)
}

function asShown({ id, content, sent = content, label, isLabelled }: FreshBlock): ShownBlock {
  return { id, content: sent, label, isLabelled }
}

/** What is left of a content in its place. */
function withoutStretches(content: string, stretches: readonly Placeless[]): string {
  let at = 0
  const kept = stretches.map(({ start, end }) => {
    const piece = content.slice(at, start)
    at = end
    return piece
  })
  // nothing is found across what was left out
  return [...kept, content.slice(at)].join('\0')
}
