import { countEach } from '#index/group-by.ts'
import { foldNumbers } from '../learnt-template.ts'

/** A run of words in a text, by which it is known again. */
interface Piece {
  readonly start: number
  readonly end: number
  /** The words; told apart by what follows if they stand several times in the text. */
  readonly name: string
}

/**
 * What stands between two pieces in a row that are both in several texts, with numbers folded: `together`, if they are beside
 * each other in most of these, as in one document; otherwise `apart`.
 */
export interface Neighbours {
  readonly apart: string[]
  readonly together: string[]
}

/** Pieces in this share of the texts are of the template. */
const common = 0.5
/** Share of their texts in which pieces of one document stand beside each other, at least. */
const usual = 0.5

/** Reads what recurs in texts of one application, and beside what. */
export function readNeighbours(texts: readonly string[]): Neighbours {
  const found = texts.map(findPieces)
  const inTexts = countTexts(found.map((pieces) => pieces.map(({ name }) => name)))
  const isContent = ({ name }: Piece): boolean => inTexts.get(name)! < Math.max(4, common * texts.length)
  const contents = found.map((pieces) => pieces.filter(isContent))
  const pairs = contents.map((pieces) => namePairs(pieces.map(({ name }) => name)))
  const inPairs = countTexts(pairs)
  const neighbours: Neighbours = { apart: [], together: [] }
  for (const [n, text] of texts.entries())
    for (const [i, pair] of pairs[n]!.entries()) {
      const [left, right] = contents[n]!.slice(i, i + 2) as [Piece, Piece]
      const fewest = Math.min(inTexts.get(left.name)!, inTexts.get(right.name)!)
      if (fewest < 2) continue
      const isUsual = inPairs.get(pair)! >= Math.max(2, usual * fewest)
      neighbours[isUsual ? 'together' : 'apart'].push(foldNumbers(text.slice(left.end, right.start)))
    }
  return neighbours
}

/** In how many of the lists each name is. */
export function countTexts(lists: readonly (readonly string[])[]): Map<string, number> {
  return countEach(lists.flatMap((names) => [...new Set(names)]))
}

/** Names what stands beside each other. */
export function namePairs(names: readonly string[]): string[] {
  return names.slice(1).map((name, i) => `${names[i]}\0\0${name}`)
}

const fewestUnits = 12
const fewestCharacters = 8
/** Pieces that stand so often in one text are of the template. */
const often = 4

/** For each UTF-16 unit, whether runs consist of it: a letter of two units ends a run. */
let ofRuns: Uint8Array | undefined

/** Runs of twelve letters, spaces and the like, or more. Those that stand four times or more are left out. */
export function findPieces(text: string): Piece[] {
  const pieces = findRuns(text)
  const counts = countEach(pieces.map(({ name }) => name))
  return pieces.flatMap((piece, i) => {
    const count = counts.get(piece.name)!
    if (count >= often) return []
    return [count === 1 ? piece : { ...piece, name: `${piece.name}\0${pieces[i + 1]?.name ?? ''}` }]
  })
}

/** A scan by table: a regular expression takes eight times as long. */
function findRuns(text: string): Piece[] {
  ofRuns ??= Uint8Array.from({ length: 0x10000 }, (_, unit) =>
    /[\p{L}\p{M}_ ,'’/-]/u.test(String.fromCharCode(unit)) ? 1 : 0,
  )
  const runs: Piece[] = []
  let from = 0
  for (let i = 0; i <= text.length; i++) {
    // behind the end there is no unit, and NaN has no place in the table
    if (ofRuns[text.charCodeAt(i)] === 1) continue
    if (i - from >= fewestUnits) {
      const run = text.slice(from, i)
      const name = run.trim()
      const start = from + run.indexOf(name)
      if (name.length >= fewestCharacters) runs.push({ start, end: start + name.length, name })
    }
    from = i + 1
  }
  return runs
}
