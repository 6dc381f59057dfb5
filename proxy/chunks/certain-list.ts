import type { BlockSpan, ContextList } from '../prompt/judge/context-list.ts'
import type { ChunkHandle } from './table/chunk-columns.ts'

/** Why the borders of a list are certain. */
export interface CertainBorders {
  readonly by: 'known_chunks' | 'separator'
  /** chunks that are blocks of it */
  readonly chunks: readonly ChunkHandle[]
  /** where its blocks stand in the message's texts, joined: what is known changes, and what was sent does not */
  readonly spans: readonly number[]
}

/** A list whose borders nobody had to guess. */
export interface CertainList extends ContextList {
  readonly certain: CertainBorders
}

/** One of the texts of a message, where they are searched as one. */
export interface TextPart {
  /** place among the texts of the body */
  readonly text: number
  readonly start: number
}

/** A message that is searched as one text. */
export interface SearchedText {
  readonly whole: string
  readonly parts: readonly TextPart[]
  readonly role: string
  readonly isRendered: boolean
}

/** Finds the lists of a message whose borders are certain. */
export type CertainFinder = (text: SearchedText) => readonly CertainList[]

/** Lists that were found, less those that lists with certain borders show to be otherwise. */
export function preferCertain(guessed: readonly ContextList[], certain: readonly CertainList[]): ContextList[] {
  const kept = certain.filter((list) => list.certain.by === 'separator' || !guessed.some((one) => isInBlock(list, one)))
  const others = guessed.filter((one) => !kept.some((list) => startOf(list) < one.end && startOf(one) < list.end))
  return [...others, ...kept].sort((a, b) => startOf(a) - startOf(b))
}

/** Whether a list is a part of one document of another. */
function isInBlock(list: ContextList, { blocks }: ContextList): boolean {
  return blocks.length > 1 && blocks.some(({ start, end }) => start <= startOf(list) && list.end <= end)
}

function startOf({ blocks }: ContextList): number {
  return blocks[0]!.start
}

/** Four numbers a block, by which a list is made again. */
export function toSpans(blocks: readonly BlockSpan[]): number[] {
  return blocks.flatMap(({ start, end, contentStart, contentEnd }) => [start, end, contentStart, contentEnd])
}

/** The list of known chunks that spans stand for; undefined where they fit no text of this length. */
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
