/** How a list stands to the earlier one it has most in common with. */
export interface Likeness {
  /** Documents in both. */
  readonly common: number
  /**
   * `same`: they stand in the same order. `moved`: a few have moved, as an update moves an item to the top, or all are
   * reversed. `mixed`: neither. `far`: too little in common to say.
   */
  readonly kind: 'far' | 'same' | 'moved' | 'mixed'
}

const fewestCommon = 4
/** Share of the documents in both lists that a change of state may move. */
const fewMoves = 0.25

/** The last lists of a template: what came again, and what an earlier list explains. */
export class RecentLists {
  readonly #capacity: number
  readonly #width: number
  /** Rows of a ring: question, number of documents, documents. */
  readonly rows: Uint32Array
  #noted = 0

  constructor(capacity: number, mostDocuments: number) {
    this.#capacity = capacity
    this.#width = mostDocuments + 2
    this.rows = new Uint32Array(capacity * this.#width)
  }

  /** Lists noted so far, also those forgotten since. */
  get noted(): number {
    return this.#noted
  }

  restore(rows: Uint32Array, noted: number): void {
    this.rows.set(rows)
    this.#noted = noted
  }

  /**
   * `again`: the same list, in a retry or in a history. `asked-again`: its question came with some of its documents
   * before, as where a model ranks them in turns: the question does not determine the order.
   */
  recognise(keys: readonly number[], question: number): 'new' | 'again' | 'asked-again' {
    const documents = keys.map(shorten)
    const own = new Set(documents)
    let isAskedAgain = false
    for (const row of this.#latestFirst()) {
      const known = row.subarray(2, 2 + row[1]!)
      if (known.length === documents.length && documents.every((key, i) => known[i] === key)) return 'again'
      if (row[0] === question && countCommon(known, own) >= 2) isAskedAgain = true
    }
    return isAskedAgain ? 'asked-again' : 'new'
  }

  /** Compares with the list that has most documents in common, the latest of those. */
  compare(keys: readonly number[]): Likeness {
    const places = new Map(keys.map((key, place) => [shorten(key), place]))
    let nearest: Uint32Array | undefined
    let common = fewestCommon - 1
    for (const row of this.#latestFirst()) {
      const known = row.subarray(2, 2 + row[1]!)
      const count = countCommon(known, places)
      if (count <= common) continue
      common = count
      nearest = known
    }
    if (nearest === undefined) return { common: 0, kind: 'far' }
    return {
      common,
      kind: kindOf(Array.from(nearest, (key) => places.get(key)!).filter((place) => place !== undefined)),
    }
  }

  note(keys: readonly number[], question: number): void {
    const from = (this.#noted++ % this.#capacity) * this.#width
    this.rows[from] = question
    this.rows[from + 1] = keys.length
    this.rows.set(keys.map(shorten), from + 2)
  }

  *#latestFirst(): Iterable<Uint32Array> {
    for (let back = 1; back <= Math.min(this.#noted, this.#capacity); back++) {
      const from = ((this.#noted - back) % this.#capacity) * this.#width
      yield this.rows.subarray(from, from + this.#width)
    }
  }
}

function shorten(key: number): number {
  return key % 0x1_0000_0000
}

function countCommon(documents: Uint32Array, own: { has(key: number): boolean }): number {
  let count = 0
  for (let i = 0; i < documents.length; i++) if (own.has(documents[i]!)) count++
  return count
}

function kindOf(places: readonly number[]): Likeness['kind'] {
  const backwards = places.toReversed()
  const moves = places.length - longestRise(places)
  if (moves === 0) return 'same'
  if (Math.min(moves, places.length - longestRise(backwards)) <= fewMoves * places.length) return 'moved'
  // what overtook stands at the head, or what fell back at the end: the rest has kept its order
  const isFronted = [places, backwards].some((row) => Math.max(headRun(row), tailRun(row)) > row.length / 2)
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

function headRun(row: readonly number[]): number {
  const end = row.findIndex((value, i) => i > 0 && value < row[i - 1]!)
  return end < 0 ? row.length : end
}

function tailRun(row: readonly number[]): number {
  let run = 1
  while (run < row.length && row[row.length - run - 1]! < row[row.length - run]!) run++
  return run
}
