import type { WholeColumn } from './number-column.ts'
import { NumberTable } from './number-table.ts'

/** Finds the child of a node by the first symbol of its edge. */
export class ChildTable {
  readonly #table = new NumberTable()
  readonly #parents: WholeColumn
  readonly #firstOf: (node: number) => number

  /** `firstOf` returns the first symbol of a node's edge, which must not change while the node is in the table. */
  constructor(parents: WholeColumn, firstOf: (node: number) => number) {
    this.#parents = parents
    this.#firstOf = firstOf
  }

  get bytes(): number {
    return this.#table.bytes
  }

  /** Returns the child; −1 if there is none. */
  find(parent: number, symbol: number): number {
    const hash = hashOf(parent, symbol)
    let node = this.#table.first(hash)
    while (node >= 0 && !(this.#parents.at(node) === parent && this.#firstOf(node) === symbol)) {
      node = this.#table.next(hash)
    }
    return node
  }

  add(node: number): void {
    this.#table.add(this.#hashOf(node), node)
  }

  /** Replaces a node with another one of the same parent and symbol. */
  replace(node: number, by: number): void {
    this.#table.replace(this.#hashOf(node), node, by)
  }

  delete(node: number): void {
    this.#table.delete(this.#hashOf(node), node)
  }

  clear(): void {
    this.#table.clear()
  }

  #hashOf(node: number): number {
    return hashOf(this.#parents.at(node), this.#firstOf(node))
  }
}

function hashOf(parent: number, symbol: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(symbol, 0x85ebca77)
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d)
  return hash ^ (hash >>> 13)
}
