import { foldNumbers } from '../learnt-template.ts'

/** A run of words in a text, by which it is known again. */
interface Piece {
  readonly start: number
  readonly end: number
  /** The words; told apart by what follows if they stand several times in the text. */
  readonly name: string
}

/** A text with what its pieces say of the places between them. */
export interface StudiedText {
  readonly text: string
  readonly pieces: readonly Piece[]
  /**
   * For each piece but the last, what is between it and the next, if both are in several texts: a `bond` if they are
   * beside each other in most of these, otherwise an `edge`.
   */
  readonly kinds: readonly ('edge' | 'bond' | 'unknown')[]
}

/** Pieces in this share of the texts are of the template. */
const common = 0.5
/** Share of their texts in which pieces of one document stand beside each other, at least. */
const usual = 0.5
const longestGap = 240

/** Reads what recurs in texts of one application, and beside what. It does not matter in which order the texts come. */
export function studyTexts(texts: readonly string[]): StudiedText[] {
  const found = texts.map(findPieces)
  const inTexts = countTexts(found.map((pieces) => pieces.map(({ name }) => name)))
  const isContent = ({ name }: Piece): boolean => inTexts.get(name)! < Math.max(4, common * texts.length)
  const contents = found.map((pieces) => pieces.filter(isContent))
  const pairs = contents.map((pieces) => namePairs(pieces.map(({ name }) => name)))
  const together = countTexts(pairs)
  return texts.map((text, i) => {
    const [pieces, names] = [contents[i]!, pairs[i]!]
    const kinds = names.map((pair, j): StudiedText['kinds'][number] => {
      const fewest = Math.min(inTexts.get(pieces[j]!.name)!, inTexts.get(pieces[j + 1]!.name)!)
      if (fewest < 2) return 'unknown'
      return together.get(pair)! >= Math.max(2, usual * fewest) ? 'bond' : 'edge'
    })
    return { text, pieces, kinds }
  })
}

/** What stands at the edges of a text, with numbers folded. */
export function edgesOf({ text, pieces, kinds }: StudiedText): string[] {
  return kinds.flatMap((kind, i) => {
    const [start, end] = [pieces[i]!.end, pieces[i + 1]!.start]
    return kind === 'edge' && end - start <= longestGap && end > start ? [foldNumbers(text.slice(start, end))] : []
  })
}

/** In how many of the lists each name is. */
export function countTexts(lists: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const names of lists) for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
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
  const counts = new Map<string, number>()
  for (const { name } of pieces) counts.set(name, (counts.get(name) ?? 0) + 1)
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
