import type { WholeColumn } from './number-column.ts'

const firstPlaces = 64
/** Up to this many nodes are in one array; beyond that there are many, each of which grows in a few milliseconds. */
const mostInOne = 1 << 15
const manyTables = 64

/**
 * Finds the child of a node by the first symbol of its edge. Open addressing, eight bytes per place: a hash and the
 * child's number + 1, or two zeros. So entries with another hash need no further access.
 */
export class ChildTable {
  readonly #parents: WholeColumn
  readonly #firstOf: (node: number) => number
  /** by the upper bits of the hash */
  #tables = [createTable(firstPlaces)]
  #sizes = [0]

  /** `firstOf` returns the first symbol of a node's edge, which must not change while the node is in the table. */
  constructor(parents: WholeColumn, firstOf: (node: number) => number) {
    this.#parents = parents
    this.#firstOf = firstOf
  }

  get bytes(): number {
    return this.#tables.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Returns the child; −1 if there is none. */
  find(parent: number, symbol: number): number {
    const hash = hashOf(parent, symbol)
    const table = this.#tables[this.#tableOf(hash)]!
    for (let at = homeOf(hash, table); table[at + 1] !== 0; at = following(at, table)) {
      if (table[at] !== hash) continue
      const node = table[at + 1]! - 1
      if (this.#parents.at(node) === parent && this.#firstOf(node) === symbol) return node
    }
    return -1
  }

  /** Adds a node that is not in the table. */
  add(node: number): void {
    this.#put(this.#hashOf(node), node + 1)
  }

  /** Replaces a node with another one of the same parent and symbol. */
  replace(node: number, by: number): void {
    const hash = this.#hashOf(node)
    const table = this.#tables[this.#tableOf(hash)]!
    table[placeOf(hash, node, table) + 1] = by + 1
  }

  /** Removes a node. Throws a `RangeError` if it is not in the table. */
  delete(node: number): void {
    const hash = this.#hashOf(node)
    const table = this.#tables[this.#tableOf(hash)]!
    let hole = placeOf(hash, node, table)
    this.#sizes[this.#tableOf(hash)]! -= 1
    // move later entries up if they are not at their home place
    for (let at = following(hole, table); table[at + 1] !== 0; at = following(at, table)) {
      const home = homeOf(table[at]!, table)
      const mask = table.length - 1
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      table.copyWithin(hole, at, at + 2)
      hole = at
    }
    table.fill(0, hole, hole + 2)
  }

  clear(): void {
    this.#tables = [createTable(firstPlaces)]
    this.#sizes = [0]
  }

  #put(hash: number, entry: number): void {
    const number = this.#tableOf(hash)
    const table = this.#tables[number]!
    if (8 * (this.#sizes[number]! + 1) > 3 * table.length) {
      this.#grow(number)
      this.#put(hash, entry)
      return
    }
    let at = homeOf(hash, table)
    while (table[at + 1] !== 0) at = following(at, table)
    table[at] = hash
    table[at + 1] = entry
    this.#sizes[number]! += 1
  }

  #grow(number: number): void {
    const before = this.#tables[number]!
    if (this.#tables.length === 1 && this.#sizes[0]! >= mostInOne) {
      this.#tables = Array.from({ length: manyTables }, () => createTable(before.length / manyTables))
      this.#sizes = new Array(manyTables).fill(0)
    } else {
      this.#tables[number] = createTable(before.length)
      this.#sizes[number] = 0
    }
    for (let at = 0; at < before.length; at += 2) if (before[at + 1] !== 0) this.#put(before[at]!, before[at + 1]!)
  }

  #hashOf(node: number): number {
    return hashOf(this.#parents.at(node), this.#firstOf(node))
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

function placeOf(hash: number, node: number, table: Int32Array): number {
  let at = homeOf(hash, table)
  while (table[at + 1] !== node + 1) {
    if (table[at + 1] === 0) throw new RangeError(`${node} is not in the table`)
    at = following(at, table)
  }
  return at
}

function hashOf(parent: number, symbol: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(symbol, 0x85ebca77)
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d)
  return hash ^ (hash >>> 13)
}
