import type { SentPointer } from '#index/dedup/deduplicate-context.ts'
import type { ContextSlot } from '../prompt/body/prompt-context.ts'
import type { Piece } from './recorded-request.ts'

/** A stretch of a block, the words of a pointer, or the place of its label (undefined). */
type ShortenedPiece = Piece | string | undefined

/**
 * Takes the pieces of a whole block, and returns those of the block as sent, with pointers instead of some stretches.
 * Returns undefined if it is sent in full, or if its content holds the label of its place.
 */
export function shortenBlock(
  { text, content }: ContextSlot,
  pieces: readonly (Piece | undefined)[],
  pointers: readonly SentPointer[],
): readonly ShortenedPiece[] | undefined {
  const at = pieces.findIndex((piece) => piece?.start === content.start && piece.end === content.end)
  if (pointers.length === 0 || at < 0) return undefined
  const kept: ShortenedPiece[] = []
  let start = content.start
  const keepUntil = (end: number): void => {
    if (end > start) kept.push({ text, start, end })
  }
  for (const pointer of pointers.toSorted((a, b) => a.start - b.start)) {
    keepUntil(content.start + pointer.start)
    kept.push(pointer.text)
    start = content.start + pointer.end
  }
  keepUntil(content.end)
  return [...pieces.slice(0, at), ...kept, ...pieces.slice(at + 1)]
}
