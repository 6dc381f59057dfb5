import type { NumberColumn } from './number-column.ts'

const firstPlaces = 64
/** A table of so many nodes is one array; beyond, it is many, each of which grows in a few milliseconds. */
const mostInOne = 1 << 15
const manyTables = 64

/** Finds the child of a node by the first symbol of its edge: open addressing, four bytes a place. */
export class ChildTable {
  /** by the hash's upper bits: node + 1 at each place; 0 where there is none */
  #tables = [new Int32Array(firstPlaces)]
  #sizes = [0]
  readonly #parents: NumberColumn
  readonly #firstOf: (node: number) => number

  /** `firstOf`: the first symbol of a node's edge; it must not change while the node is in the table. */
  constructor(parents: NumberColumn, firstOf: (node: number) => number) {
    this.#parents = parents
    this.#firstOf = firstOf
  }

  get bytes(): number {
    return this.#tables.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** The child; −1 when there is none. */
  find(parent: number, symbol: number): number {
    const hash = hashOf(parent, symbol)
    const places = this.#tables[this.#tableOf(hash)]!
    const parents = this.#parents.array
    for (let at = hash & (places.length - 1); ; at = (at + 1) & (places.length - 1)) {
      const node = places[at]! - 1
      if (node < 0 || (parents[node] === parent && this.#firstOf(node) === symbol)) return node
    }
  }

  add(node: number): void {
    const hash = this.#hashOf(node)
    let table = this.#tableOf(hash)
    if (4 * (this.#sizes[table]! + 1) > 3 * this.#tables[table]!.length) {
      this.#grow(table)
      table = this.#tableOf(hash)
    }
    put(this.#tables[table]!, hash, node)
    this.#sizes[table]! += 1
  }

  /** Another node stands for the same parent and symbol. */
  replace(node: number, by: number): void {
    const hash = this.#hashOf(node)
    const places = this.#tables[this.#tableOf(hash)]!
    places[placeOf(places, hash, node)] = by + 1
  }

  delete(node: number): void {
    const hash = this.#hashOf(node)
    const table = this.#tableOf(hash)
    const places = this.#tables[table]!
    const mask = places.length - 1
    let hole = placeOf(places, hash, node)
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

  #hashOf(node: number): number {
    return hashOf(this.#parents.array[node]!, this.#firstOf(node))
  }
}

function put(places: Int32Array, hash: number, node: number): void {
  let at = hash & (places.length - 1)
  while (places[at] !== 0) at = (at + 1) & (places.length - 1)
  places[at] = node + 1
}

/** Where a node lies that is there. */
function placeOf(places: Int32Array, hash: number, node: number): number {
  let at = hash & (places.length - 1)
  while (places[at] !== node + 1) at = (at + 1) & (places.length - 1)
  return at
}

function hashOf(parent: number, symbol: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(symbol, 0x85ebca77)
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d)
  return hash ^ (hash >>> 13)
}
