import { type BlockSpan, type ContextList, overlap, startOf } from './context-list.ts'
import { narrow } from './scan/find-edges.ts'

/** A known chunk, and a stamp that distinguishes it from one that takes its place later. */
export interface ChunkHandle {
  readonly chunk: number
  readonly stamp: number
}

/** Why the borders of a list are certain. */
export interface CertainBorders {
  /** `template`: of the configuration; `learnt`: from traffic; `sent`: they are those that the list was sent with before */
  readonly by: 'known_chunks' | 'template' | 'learnt' | 'sent'
  /** name of the template that found it */
  readonly template?: string
  /** key of the learnt template that found it */
  readonly learntKey?: string
  /** the known chunks among its blocks */
  readonly chunks: readonly ChunkHandle[]
  /** where its blocks are in the message's joined texts: what is known changes, but what was sent does not */
  readonly spans: readonly number[]
  /** where the labels are that count up; empty without such labels */
  readonly labels: readonly number[]
}

/** A list whose borders did not have to be guessed. */
export interface CertainList extends ContextList {
  readonly certain: CertainBorders
}

/** One of the texts of a message that are searched as one. */
export interface TextPart {
  /** index among the texts of the body */
  readonly text: number
  readonly start: number
  readonly end: number
}

/** A message that is searched as one text. */
export interface SearchedText {
  readonly whole: string
  readonly parts: readonly TextPart[]
  readonly role: string
  readonly tool?: string | undefined
  readonly isRendered: boolean
  /** the lists that marks show in it, whether or not the task lets them be moved */
  readonly marked: readonly ContextList[]
}

/** Lists in shorter texts of a message are not recognised when they are sent again. */
export const shortestSearched = 64

/** Finds the lists with certain borders in a message. */
export type CertainFinder = (text: SearchedText) => readonly CertainList[]

/**
 * Merges guessed and certain lists. A certain list replaces the guessed lists that it overlaps. A list of known chunks
 * inside one block of a guessed list is dropped instead.
 */
export function preferCertain(guessed: readonly ContextList[], certain: readonly CertainList[]): ContextList[] {
  const kept = certain.filter(
    (list) => list.certain.by !== 'known_chunks' || !guessed.some((one) => isInBlock(list, one)),
  )
  const others = guessed.filter((one) => !kept.some((list) => overlap(list, one)))
  return [...others, ...kept].sort((a, b) => startOf(a) - startOf(b))
}

/** Whether a list is inside one block of a list of several. */
function isInBlock(list: ContextList, { blocks }: ContextList): boolean {
  return blocks.length > 1 && blocks.some(({ start, end }) => start <= startOf(list) && list.end <= end)
}

/** Returns four numbers per block, from which `fromSpans` restores the list, and its end if that is behind the last. */
export function toSpans({ blocks, end }: Pick<ContextList, 'blocks' | 'end'>): number[] {
  const spans = blocks.flatMap(({ start, end, contentStart, contentEnd }) => [start, end, contentStart, contentEnd])
  return end === blocks.at(-1)!.end ? spans : [...spans, end]
}

/** Returns two numbers per block, its label's; none if blocks have no labels. */
export function toLabels(blocks: readonly BlockSpan[]): number[] {
  return blocks.flatMap(({ label }) => (label ? [label.start, label.end] : []))
}

/** Restores a list from where its blocks and labels are; undefined if they do not fit the text. */
export function fromSpans(spans: readonly number[], labels: readonly number[], text: string): CertainList | undefined {
  const blocks: BlockSpan[] = []
  for (let i = 0; i + 3 < spans.length; i += 4) {
    const [start, end, contentStart, contentEnd] = spans.slice(i, i + 4) as [number, number, number, number]
    const [from, to] = labels.slice(i / 2, i / 2 + 2)
    const label = from !== undefined && to !== undefined ? { start: from, end: to } : undefined
    const span = { start, end, contentStart, contentEnd }
    blocks.push(label ? { ...span, label } : span)
  }
  const isLabelled = labels.length > 0
  const end = spans.length % 4 === 1 ? spans.at(-1)! : (blocks.at(-1)?.end ?? 0)
  const areSound = blocks.every((block, i) => isSound(block, blocks[i - 1]?.end ?? 0, isLabelled))
  if (blocks.length < 2 || !areSound || end < blocks.at(-1)!.end || end > text.length) return undefined
  const certain: CertainBorders = { by: 'sent', chunks: [], spans, labels }
  return { blocks, positional: isLabelled, labelPrefix: labelPrefixOf(text, blocks[0]!), end, certain }
}

/** Whether a block begins at or behind `from`, holds something, and has its label in front of that if it has to. */
export function isSound(
  { start, end, contentStart, contentEnd, label }: BlockSpan,
  from: number,
  hasLabel: boolean,
): boolean {
  if (from > start || start > contentStart || contentStart >= contentEnd || contentEnd > end) return false
  if (!label) return !hasLabel
  return start <= label.start && label.start < label.end && label.end <= contentStart
}

const LONGEST_PREFIX = 40
const PREFIX = /\p{L}+[ _#:.-]{0,2}$/u

/**
 * Returns what is said in front of a block's number when it is mentioned: `Document ` for `Document 3:`, '' for `[3]` and
 * without a number.
 */
export function labelPrefixOf(text: string, { start, label }: Pick<BlockSpan, 'start' | 'label'>): string {
  if (!label) return ''
  return PREFIX.exec(narrow(text.slice(Math.max(start, label.start - LONGEST_PREFIX), label.start)))?.[0] ?? ''
}
