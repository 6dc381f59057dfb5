const firstPlaces = 64
/** A table of so many numbers is one array; beyond, it is many, each of which grows in a few milliseconds. */
const mostInOne = 1 << 15
const manyTables = 64

/**
 * Finds numbers by a hash of what they stand for: open addressing, four bytes a place. Whoever looks one up walks its
 * `placesOf` from `hash & (length − 1)` on, round and up to an empty one, and tells which is meant.
 */
export class NumberTable {
  /** by the hash's upper bits: number + 1 at each place; 0 where there is none */
  #tables = [new Int32Array(firstPlaces)]
  #sizes = [0]
  readonly #hashOf: (number: number) => number

  /** `hashOf`: of what a number stands for; it must not change while the number is in the table. */
  constructor(hashOf: (number: number) => number) {
    this.#hashOf = hashOf
  }

  get bytes(): number {
    return this.#tables.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Where all numbers of a hash lie, each one more than it is; there are as many places as a power of two. */
  placesOf(hash: number): Int32Array {
    return this.#tables[this.#tableOf(hash)]!
  }

  /** Adds a number that is not in the table. */
  add(number: number): void {
    const hash = this.#hashOf(number)
    let table = this.#tableOf(hash)
    if (4 * (this.#sizes[table]! + 1) > 3 * this.#tables[table]!.length) {
      this.#grow(table)
      table = this.#tableOf(hash)
    }
    put(this.#tables[table]!, hash, number)
    this.#sizes[table]! += 1
  }

  /** Another number stands for the same. */
  replace(number: number, by: number): void {
    const hash = this.#hashOf(number)
    const places = this.placesOf(hash)
    places[placeOf(places, hash, number)] = by + 1
  }

  /** Takes out a number that is in the table. */
  delete(number: number): void {
    const hash = this.#hashOf(number)
    const table = this.#tableOf(hash)
    const places = this.#tables[table]!
    const mask = places.length - 1
    let hole = placeOf(places, hash, number)
    this.#sizes[table]! -= 1
    // those behind it that were put off move up
    for (let at = (hole + 1) & mask; places[at] !== 0; at = (at + 1) & mask) {
      const home = this.#hashOf(places[at]! - 1) & mask
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      places[hole] = places[at]!
      hole = at
    }
    places[hole] = 0
  }

  clear(): void {
    this.#tables = [new Int32Array(firstPlaces)]
    this.#sizes = [0]
  }

  #grow(table: number): void {
    const before = this.#tables[table]!
    if (this.#tables.length === 1 && this.#sizes[0]! >= mostInOne) {
      const places = (2 * before.length) / manyTables
      this.#tables = Array.from({ length: manyTables }, () => new Int32Array(places))
      this.#sizes = new Array(manyTables).fill(0)
    } else {
      this.#tables[table] = new Int32Array(2 * before.length)
      this.#sizes[table] = 0
    }
    for (const place of before) if (place !== 0) this.add(place - 1)
  }

  #tableOf(hash: number): number {
    return (hash >>> 26) & (this.#tables.length - 1)
  }
}

function put(places: Int32Array, hash: number, number: number): void {
  let at = hash & (places.length - 1)
  while (places[at] !== 0) at = (at + 1) & (places.length - 1)
  places[at] = number + 1
}

/** Where a number lies that is there. */
function placeOf(places: Int32Array, hash: number, number: number): number {
  let at = hash & (places.length - 1)
  while (places[at] !== number + 1) at = (at + 1) & (places.length - 1)
  return at
}
