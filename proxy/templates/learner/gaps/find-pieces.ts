/** A run of words in a text, by which it is known again. */
export interface Piece {
  readonly start: number
  readonly end: number
  /** The words; told apart by what follows if they stand several times in the text. */
  readonly name: string
}

const runs = /[\p{L}\p{M}_ ,'’/-]{12,}/gu
const fewestCharacters = 8
/** Pieces that stand so often in one text are of the template. */
const often = 4

/** Runs of twelve letters, spaces and the like, or more. Those that stand four times or more are left out. */
export function findPieces(text: string): Piece[] {
  const pieces = Array.from(text.matchAll(runs), (match) => {
    const name = match[0].trim()
    const start = match.index + match[0].indexOf(name)
    return { start, end: start + name.length, name }
  }).filter(({ name }) => name.length >= fewestCharacters)
  const counts = new Map<string, number>()
  for (const { name } of pieces) counts.set(name, (counts.get(name) ?? 0) + 1)
  return pieces.flatMap((piece, i) => {
    const count = counts.get(piece.name)!
    if (count >= often) return []
    return [count === 1 ? piece : { ...piece, name: `${piece.name}\0${pieces[i + 1]?.name ?? ''}` }]
  })
}
