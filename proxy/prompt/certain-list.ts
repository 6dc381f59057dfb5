import { type BlockSpan, type ContextList, overlap, startOf } from './context-list.ts'

/** A known chunk, and a stamp that distinguishes it from one that takes its place later. */
export interface ChunkHandle {
  readonly chunk: number
  readonly stamp: number
}

/** Why the borders of a list are certain. */
export interface CertainBorders {
  readonly by: 'known_chunks' | 'separator'
  /** the known chunks among its blocks */
  readonly chunks: readonly ChunkHandle[]
  /** where its blocks are in the message's joined texts: the known chunks change, but what was sent does not */
  readonly spans: readonly number[]
}

/** A list whose borders did not have to be guessed. */
export interface CertainList extends ContextList {
  readonly certain: CertainBorders
}

/** One of the texts of a message that are searched as one. */
interface TextPart {
  /** index among the texts of the body */
  readonly text: number
  readonly start: number
}

/** A message that is searched as one text. */
export interface SearchedText {
  readonly whole: string
  readonly parts: readonly TextPart[]
  readonly role: string
  readonly isRendered: boolean
  /** the lists that marks show in it, whether or not the task lets them be moved */
  readonly marked: readonly ContextList[]
}

/** Finds the lists with certain borders in a message. */
export type CertainFinder = (text: SearchedText) => readonly CertainList[]

/**
 * Merges guessed and certain lists. A certain list replaces the guessed lists that it overlaps. A list of known chunks
 * inside one block of a guessed list is dropped instead.
 */
export function preferCertain(guessed: readonly ContextList[], certain: readonly CertainList[]): ContextList[] {
  const kept = certain.filter((list) => list.certain.by === 'separator' || !guessed.some((one) => isInBlock(list, one)))
  const others = guessed.filter((one) => !kept.some((list) => overlap(list, one)))
  return [...others, ...kept].sort((a, b) => startOf(a) - startOf(b))
}

/** Whether a list is inside one block of a list of several. */
function isInBlock(list: ContextList, { blocks }: ContextList): boolean {
  return blocks.length > 1 && blocks.some(({ start, end }) => start <= startOf(list) && list.end <= end)
}

/** Returns four numbers per block, from which `fromSpans` restores the list. */
export function toSpans(blocks: readonly BlockSpan[]): number[] {
  return blocks.flatMap(({ start, end, contentStart, contentEnd }) => [start, end, contentStart, contentEnd])
}

/** Restores a list of known chunks from its spans; undefined if they do not fit a text of this length. */
export function fromSpans(spans: readonly number[], length: number): CertainList | undefined {
  const blocks: BlockSpan[] = []
  for (let i = 0; i + 3 < spans.length; i += 4) {
    const [start, end, contentStart, contentEnd] = spans.slice(i, i + 4) as [number, number, number, number]
    const isSound = (blocks.at(-1)?.end ?? 0) <= start && start <= contentStart && contentStart < contentEnd
    if (!isSound || contentEnd > end || end > length) return undefined
    blocks.push({ start, end, contentStart, contentEnd })
  }
  if (blocks.length < 2) return undefined
  const certain: CertainBorders = { by: 'known_chunks', chunks: [], spans }
  return { blocks, positional: false, labelPrefix: '', end: blocks.at(-1)!.end, certain }
}
