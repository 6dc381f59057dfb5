import type { SentPointer } from '#index/dedup/deduplicate-context.ts'
import type { ContextSlot } from '../prompt/body/prompt-context.ts'
import type { Piece } from './recorded-request.ts'

/** A stretch of a block, words that point to where it is, or the place of its label. */
type ShortenedPiece = Piece | string | undefined

/**
 * Returns the pieces of a block, given in full, as it is sent with pointers instead of some stretches of its content.
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
