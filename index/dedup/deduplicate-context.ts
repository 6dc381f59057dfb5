import type { BlockId } from '../context-block.ts'
import { annotateLocation } from './annotate-context.ts'
import { headOf } from './hint-words.ts'
import type { LabelBearer } from './label-bearers.ts'
import { isOneStretch, type PointerHint, type PointerWords, pointToBlock, pointToPart } from './point-to-block.ts'
import type { Overlap, ShownBlock, ShownBlocks } from './shown-blocks.ts'

/** A stretch of a block's content that occurs earlier in the same prompt, and the words sent instead. */
export interface SentPointer {
  /** position of the block in its context, as sent */
  readonly place: number
  /** in characters of the block's content; covers all of it if the whole block is repeated */
  readonly start: number
  readonly end: number
  readonly text: string
  /** the earlier block, which is in the prompt in full, its label, and the hint besides the label */
  readonly target: BlockId
  readonly label: string
  readonly hint: PointerHint
}

/** A block about to be sent. */
export interface FreshBlock extends ShownBlock {
  /** content as sent in full, if that differs because a label inside it depends on its position */
  readonly sent?: string
  /** Returns whether the block may only be replaced as a whole, not in part. */
  readonly isWhole: () => boolean
  /** whether it is sent in full in any case */
  readonly isKept?: boolean
}

/** A stretch that is only part of a block must be at least this many times as long as the pointer to it. */
const worthwhile = 2
/** A block with more pointers than this is better sent in full. */
const mostPointers = 16

/**
 * De-duplicates one context (ContextPilot §6, Algorithm 3), with its blocks in the order sent. A block that `shown`
 * contains, and longer stretches of whole lines that a block in `shown` contains, if it finds overlaps, are replaced by pointers if that is
 * shorter and the pointer is unambiguous. Blocks sent in full are added to `shown`; only they can be pointed to.
 */
export function deduplicateContext(
  blocks: readonly FreshBlock[],
  shown: ShownBlocks,
  template?: string,
): SentPointer[] {
  return writeContext(blocks, shown, (block, self) => pointersFor(block, self, shown, template))
}

/** Repeats the pointers of an earlier send of the context, as far as they are still true and unambiguous. */
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
  const inFull = blocks.map(asShown)
  const bearers = shown.beginContext(inFull)
  const all: SentPointer[] = []
  for (const [place, block] of blocks.entries()) {
    const pointers = point(block, bearers[place]!, place)
    if (pointers.length === 0) shown.add(inFull[place]!)
    else bearers[place]!.replace(withoutStretches(block.content, pointers))
    for (const pointer of pointers) all.push({ place, ...pointer })
  }
  return all
}

function pointersFor(block: FreshBlock, self: LabelBearer, shown: ShownBlocks, template?: string): Placeless[] {
  const { id, content, isWhole, isKept = false } = block
  if (isKept) return []
  const target = shown.find(id)
  if (target) {
    // no pointer is shorter than its location annotation
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

/** Returns the longest stretches, up to the maximum number of pointers, in order of position. */
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

/** Returns whether the words of a pointer are still true and unambiguous. */
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

/** Returns what is left of a content without the given stretches. */
function withoutStretches(content: string, stretches: readonly Placeless[]): string {
  let at = 0
  const kept = stretches.map(({ start, end }) => {
    const piece = content.slice(at, start)
    at = end
    return piece
  })
  // the separator prevents matches across an omitted stretch
  return [...kept, content.slice(at)].join('\0')
}
