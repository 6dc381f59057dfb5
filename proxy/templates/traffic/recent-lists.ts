/** How a list stands to the lists before it, above all to the one it has most in common with. */
export interface Likeness {
  /** Documents in both; 0 if they are fewer than four. */
  readonly common: number
  /**
   * `again`: the same list, in a retry or in a history, or nearly the same for the same question. `asked-again`: its
   * question came with some of its documents before, in another order, as where a model ranks them in turns: the question
   * does not determine the order.
   *
   * Otherwise: `same`, they stand in the same order; `moved`, a few have moved, as an update moves an item to the top, or
   * all are reversed; `mixed`, neither; `far`, too little is common to say.
   */
  readonly kind: 'again' | 'asked-again' | 'far' | 'same' | 'moved' | 'mixed'
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

  /** Completes lists whose rows were filled. */
  restore(noted: number): void {
    this.#noted = noted
    for (let at = 1; at < this.rows.length; at += this.#width) {
      this.rows[at] = Math.min(this.rows[at]!, this.#width - 2)
    }
  }

  /** Compares a list with those remembered. */
  recognise(keys: readonly number[], question: number): Likeness {
    const own = new Set(keys.map(shorten))
    let asked = -1
    let nearest = -1
    let common = fewestCommon - 1
    for (let back = 1; back <= Math.min(this.#noted, this.#capacity); back++) {
      const row = ((this.#noted - back) % this.#capacity) * this.#width
      const count = this.#countCommon(row, own)
      if (count === keys.length && this.#isEqual(row, keys)) return { common: count, kind: 'again' }
      if (asked < 0 && count >= 2 && this.rows[row] === question) asked = row
      if (count <= common) continue
      common = count
      nearest = row
    }
    if (asked >= 0) return { common: 0, kind: this.#compare(asked, keys) === 'same' ? 'again' : 'asked-again' }
    return nearest < 0 ? { common: 0, kind: 'far' } : { common, kind: this.#compare(nearest, keys) }
  }

  note(keys: readonly number[], question: number): void {
    const row = (this.#noted++ % this.#capacity) * this.#width
    this.rows[row] = question
    this.rows[row + 1] = keys.length
    this.rows.set(keys.map(shorten), row + 2)
  }

  #compare(row: number, keys: readonly number[]): Likeness['kind'] {
    const before = new Map(
      Array.from(this.rows.subarray(row + 2, row + 2 + this.rows[row + 1]!), (key, place) => [key, place]),
    )
    return kindOf(keys.map((key) => before.get(shorten(key))).filter((place) => place !== undefined))
  }

  #countCommon(row: number, own: ReadonlySet<number>): number {
    const end = row + 2 + this.rows[row + 1]!
    let count = 0
    for (let i = row + 2; i < end; i++) if (own.has(this.rows[i]!)) count++
    return count
  }

  #isEqual(row: number, keys: readonly number[]): boolean {
    return this.rows[row + 1] === keys.length && keys.every((key, i) => this.rows[row + 2 + i] === shorten(key))
  }
}

function shorten(key: number): number {
  return key % 0x1_0000_0000
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
