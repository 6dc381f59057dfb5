import { EdgePool } from './edge-pool.ts'
import { type NumberColumn, WholeColumn } from './number-column.ts'

/** The edge above each node of a tree: a stretch of symbols. What is known of it lies in columns by node. */
export class NodeEdges {
  /** by node: the place of its first symbol */
  readonly starts: WholeColumn = new WholeColumn()
  readonly lengths: WholeColumn = new WholeColumn()
  /** places behind a node's edge that are its own still: what was cut off often comes back */
  readonly #slacks: WholeColumn = new WholeColumn()
  readonly #pool: EdgePool

  /** `placeColumns`: what else lies at each place. */
  constructor(placeColumns: readonly NumberColumn[]) {
    this.#pool = new EdgePool(placeColumns)
  }

  /** What has to grow with the number of nodes. */
  get columns(): readonly NumberColumn[] {
    return [this.starts, this.lengths, this.#slacks]
  }

  /** By place. */
  get symbols(): WholeColumn {
    return this.#pool.symbols
  }

  /** Places of all edges. */
  get places(): number {
    return this.#pool.size
  }

  /** Of what lies at places; the columns by node are counted by the tree. */
  get placeBytes(): number {
    return this.#pool.bytes
  }

  /** Whether more places are unused than used. */
  get isSparse(): boolean {
    return this.#pool.isSparse
  }

  /** Gives a node that has no edge the symbols of a sequence from a place on. */
  add(node: number, sequence: readonly number[], from: number): void {
    const length = sequence.length - from
    const start = this.#pool.take(length)
    const { symbols } = this.#pool
    for (let i = 0; i < length; i++) symbols.set(start + i, sequence[from + i]!)
    this.starts.set(node, start)
    this.lengths.set(node, length)
  }

  /** How many symbols of a node's edge a sequence has from a place on. */
  sharedLength(node: number, sequence: readonly number[], from: number): number {
    const start = this.starts.at(node)
    const most = Math.min(this.lengths.at(node), sequence.length - from)
    const { symbols } = this.#pool
    let length = 0
    while (length < most && symbols.at(start + length) === sequence[from + length]) length++
    return length
  }

  /** Parts a node's edge after `length` symbols; `upper`, which is a copy of the node, gets the first of them. */
  split(node: number, upper: number, length: number): void {
    this.lengths.set(upper, length)
    this.#slacks.set(upper, 0)
    this.starts.add(node, length)
    this.lengths.add(node, -length)
  }

  /** A node's edge begins with that of its parent from now on. */
  join(parent: number, node: number): void {
    const [upper, lower] = [this.starts.at(parent), this.starts.at(node)]
    const [length, rest] = [this.lengths.at(parent), this.lengths.at(node)]
    let start = upper
    if (upper + length !== lower) {
      start = this.#pool.take(length + rest)
      this.#pool.copy(upper, start, length)
      this.#pool.copy(lower, start + length, rest)
      this.give(parent)
      this.give(node)
    }
    this.starts.set(node, start)
    this.lengths.set(node, length + rest)
  }

  /** Only the first `kept` symbols of a node's edge are in use from now on. */
  shorten(node: number, kept: number): void {
    this.#slacks.add(node, this.lengths.at(node) - kept)
    this.lengths.set(node, kept)
  }

  /** A node's edge is not in use any more. */
  give(node: number): void {
    this.#pool.give(this.starts.at(node), this.lengths.at(node) + this.#slacks.at(node))
    this.#slacks.set(node, 0)
  }

  /** Puts the edges of all nodes in use side by side. */
  compact(used: readonly number[]): void {
    const stretches = used.map((node) => ({ start: this.starts.at(node), length: this.lengths.at(node) }))
    const starts = this.#pool.compact(stretches)
    for (let i = 0; i < used.length; i++) {
      this.starts.set(used[i]!, starts[i]!)
      this.#slacks.set(used[i]!, 0)
    }
  }
}
