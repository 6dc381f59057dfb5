const firstPlaces = 64
/** Up to this many numbers are in one array; beyond that there are many, each of which grows in a few milliseconds. */
const mostInOne = 1 << 15
const manyTables = 64

/**
 * Finds numbers by a signed 32-bit hash of what they stand for. Open addressing, eight bytes per place. The hash is
 * stored next to the number, so that entries with another hash need no further access. The caller resolves equal
 * hashes.
 */
export class NumberTable {
  /** by the upper bits of the hash; each place has a hash and its number + 1, or two zeros */
  #tables = [createTable(firstPlaces)]
  #sizes = [0]
  /** current position of `first` and `next` */
  #table = this.#tables[0]!
  #at = 0

  get bytes(): number {
    return this.#tables.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Returns the first number with a hash; −1 if there is none. */
  first(hash: number): number {
    this.#table = this.#tables[this.#tableOf(hash)]!
    this.#at = homeOf(hash, this.#table)
    return this.#seek(hash)
  }

  /** Returns the next number with the same hash after the one returned last; −1 if there is none. */
  next(hash: number): number {
    this.#at = following(this.#at, this.#table)
    return this.#seek(hash)
  }

  /** Adds a number that is not in the table. */
  add(hash: number, number: number): void {
    let table = this.#tableOf(hash)
    if (8 * (this.#sizes[table]! + 1) > 3 * this.#tables[table]!.length) {
      this.#grow(table)
      table = this.#tableOf(hash)
    }
    put(this.#tables[table]!, hash, number)
    this.#sizes[table]! += 1
  }

  /** Replaces a number with another one of the same hash. */
  replace(hash: number, number: number, by: number): void {
    this.#find(hash, number)
    this.#table[this.#at + 1] = by + 1
  }

  /** Removes a number. Throws a `RangeError` if it is not in the table. */
  delete(hash: number, number: number): void {
    this.#find(hash, number)
    const table = this.#table
    this.#sizes[this.#tableOf(hash)]! -= 1
    let hole = this.#at
    // move later entries up if they are not at their home place
    for (let at = following(hole, table); table[at + 1] !== 0; at = following(at, table)) {
      const home = homeOf(table[at]!, table)
      const mask = table.length - 1
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      table[hole] = table[at]!
      table[hole + 1] = table[at + 1]!
      hole = at
    }
    table[hole] = 0
    table[hole + 1] = 0
  }

  clear(): void {
    this.#tables = [createTable(firstPlaces)]
    this.#sizes = [0]
  }

  #find(hash: number, number: number): void {
    let found = this.first(hash)
    while (found !== number) {
      if (found < 0) throw new RangeError(`${number} is not in the table`)
      found = this.next(hash)
    }
  }

  #seek(hash: number): number {
    const table = this.#table
    let at = this.#at
    while (table[at] !== hash && table[at + 1] !== 0) at = following(at, table)
    this.#at = at
    return table[at + 1]! - 1
  }

  #grow(table: number): void {
    const before = this.#tables[table]!
    if (this.#tables.length === 1 && this.#sizes[0]! >= mostInOne) {
      const places = before.length / manyTables
      this.#tables = Array.from({ length: manyTables }, () => createTable(places))
      this.#sizes = new Array(manyTables).fill(0)
    } else {
      this.#tables[table] = createTable(before.length)
      this.#sizes[table] = 0
    }
    for (let at = 0; at < before.length; at += 2) if (before[at + 1] !== 0) this.add(before[at]!, before[at + 1]! - 1)
  }

  #tableOf(hash: number): number {
    return (hash >>> 26) & (this.#tables.length - 1)
  }
}

function createTable(places: number): Int32Array {
  return new Int32Array(2 * places)
}

/** Returns the place of a hash if there are no collisions. */
function homeOf(hash: number, table: Int32Array): number {
  return (hash << 1) & (table.length - 1)
}

function following(at: number, table: Int32Array): number {
  return (at + 2) & (table.length - 1)
}

function put(table: Int32Array, hash: number, number: number): void {
  let at = homeOf(hash, table)
  while (table[at + 1] !== 0) at = following(at, table)
  table[at] = hash
  table[at + 1] = number + 1
}
