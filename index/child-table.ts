import type { NumberColumn } from './number-column.ts'

/** Finds the child of a node by the first symbol of its edge: open addressing, four bytes a place. */
export class ChildTable {
  /** node + 1; 0 where there is none */
  #places = new Int32Array(64)
  #size = 0
  readonly #parents: NumberColumn
  readonly #firstOf: (node: number) => number

  /** `firstOf`: the first symbol of a node's edge; it must not change while the node is in the table. */
  constructor(parents: NumberColumn, firstOf: (node: number) => number) {
    this.#parents = parents
    this.#firstOf = firstOf
  }

  get bytes(): number {
    return this.#places.byteLength
  }

  /** The child; −1 when there is none. */
  find(parent: number, symbol: number): number {
    const parents = this.#parents.array
    for (let at = this.#placeOf(parent, symbol); ; at = (at + 1) & (this.#places.length - 1)) {
      const node = this.#places[at]! - 1
      if (node < 0 || (parents[node] === parent && this.#firstOf(node) === symbol)) return node
    }
  }

  add(node: number): void {
    if (4 * (this.#size + 1) > 3 * this.#places.length) this.#grow()
    this.#put(node)
    this.#size += 1
  }

  /** Another node stands for the same parent and symbol. */
  replace(node: number, by: number): void {
    this.#places[this.#find(node)] = by + 1
  }

  delete(node: number): void {
    const mask = this.#places.length - 1
    let hole = this.#find(node)
    this.#size -= 1
    // those behind it that were put off move up
    for (let at = (hole + 1) & mask; this.#places[at] !== 0; at = (at + 1) & mask) {
      const home = this.#homeOf(this.#places[at]! - 1)
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      this.#places[hole] = this.#places[at]!
      hole = at
    }
    this.#places[hole] = 0
  }

  clear(): void {
    this.#places = new Int32Array(64)
    this.#size = 0
  }

  #find(node: number): number {
    let at = this.#homeOf(node)
    while (this.#places[at] !== node + 1) at = (at + 1) & (this.#places.length - 1)
    return at
  }

  #put(node: number): void {
    let at = this.#homeOf(node)
    while (this.#places[at] !== 0) at = (at + 1) & (this.#places.length - 1)
    this.#places[at] = node + 1
  }

  #grow(): void {
    const before = this.#places
    this.#places = new Int32Array(2 * before.length)
    for (const place of before) if (place !== 0) this.#put(place - 1)
  }

  #homeOf(node: number): number {
    return this.#placeOf(this.#parents.array[node]!, this.#firstOf(node))
  }

  #placeOf(parent: number, symbol: number): number {
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(symbol, 0x85ebca77)
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d)
    return (hash ^ (hash >>> 13)) & (this.#places.length - 1)
  }
}
