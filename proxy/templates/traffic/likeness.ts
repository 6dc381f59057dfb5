/**
 * How a list stands to an earlier one: `same`, the documents in both stand in the same order; `moved`, a few have moved,
 * as an update moves an item to the top, or all are reversed; `mixed`, neither.
 */
export type Likeness = 'same' | 'moved' | 'mixed'

/** Share of the documents in both lists that a change of state may move. */
const fewMoves = 0.25

/** `places`: those of the documents in the earlier list, in the order of the new one. */
export function likenessOf(places: readonly number[]): Likeness {
  const backwards = places.toReversed()
  const moves = places.length - longestRise(places)
  if (moves === 0) return 'same'
  if (Math.min(moves, places.length - longestRise(backwards)) <= fewMoves * places.length) return 'moved'
  // what overtook stands at the head, or what fell back at the end: the rest has kept its order
  const runs = [places, backwards].flatMap((row) => [row, row.map((place) => -place)].map(headRun))
  const isFronted = Math.max(...runs) > places.length / 2
  return isFronted ? 'moved' : 'mixed'
}

/** Length of the longest rising subsequence. */
function longestRise(values: readonly number[]): number {
  const ends: number[] = []
  for (const value of values) {
    const at = ends.findIndex((end) => end >= value)
    if (at < 0) ends.push(value)
    else ends[at] = value
  }
  return ends.length
}

/** Length of the rising run at the head. */
function headRun(row: readonly number[]): number {
  const end = row.findIndex((value, i) => i > 0 && value < row[i - 1]!)
  return end < 0 ? row.length : end
}
