import type { Span } from '../../json/json-spans.ts'

/** A stretch of one of a body's texts, cut as it stands there. */
export interface Cut extends Span {
  /** place among the texts */
  readonly text: number
}

/** What is written into a text: stretches of the body's own texts, and words of ours. */
export type Piece = Cut | string

/** A stretch of a text and what takes its place. */
export interface TextSplice extends Span {
  readonly pieces: readonly Piece[]
}

/** How long pieces are together, in characters. */
export function piecesLength(pieces: readonly (Span | string)[]): number {
  return pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : piece.end - piece.start), 0)
}

/** The text that pieces make together. */
export function piecesText(texts: readonly string[], pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : texts[piece.text]!.slice(piece.start, piece.end)))
    .join('')
}

/** A text with its splices, which are in order and do not overlap, applied. */
export function spliceText(texts: readonly string[], place: number, splices: readonly TextSplice[]): string {
  const text = texts[place]!
  let at = 0
  const written = splices.map(({ start, end, pieces }) => {
    const piece = text.slice(at, start) + piecesText(texts, pieces)
    at = end
    return piece
  })
  return written.join('') + text.slice(at)
}
