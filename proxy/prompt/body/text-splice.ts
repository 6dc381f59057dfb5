import { applySplices, type Span } from '../../common/json/json-spans.ts'

/** A stretch of one of a body's texts, cut out unchanged. */
export interface Cut extends Span {
  /** index among the texts */
  readonly text: number
}

/** What is written into a text: stretches of the body's own texts, and words of our own. */
export type Piece = Cut | string

/** A stretch of a text and its replacement. */
export interface TextSplice extends Span {
  readonly pieces: readonly Piece[]
}

/** Returns the total length of pieces in characters. */
export function piecesLength(pieces: readonly (Span | string)[]): number {
  return pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : piece.end - piece.start), 0)
}

/** Joins pieces into one text. */
export function piecesText(texts: readonly string[], pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : texts[piece.text]!.slice(piece.start, piece.end)))
    .join('')
}

/** Applies splices that do not overlap to a text. */
export function spliceText(texts: readonly string[], place: number, splices: readonly TextSplice[]): string {
  const written = splices.map(({ start, end, pieces }) => ({ start, end, text: piecesText(texts, pieces) }))
  return applySplices(texts[place]!, written)
}
