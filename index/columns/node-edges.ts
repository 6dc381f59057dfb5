import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/** Allocates stretches of places in columns. A freed stretch is reused for one of the same length. */
class EdgePool {
  /** symbol at each place */
  readonly symbols: WholeColumn = new WholeColumn()
  readonly #columns: NumberColumn[]
  /** by length: starts of free stretches */
  readonly #free = new Map<number, number[]>()
  #end = 0
  #freed = 0

  /** `columns`: further data by place. */
  constructor(columns: readonly NumberColumn[]) {
    this.#columns = [this.symbols, ...columns]
  }

  /** Number of places in use. */
  get size(): number {
    return this.#end - this.#freed
  }

  /** Whether more places are free than in use, with a margin of 1,024. */
  get isSparse(): boolean {
    return this.#freed > this.size + 1_024
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Allocates a stretch of `length` places. Returns its start. */
  take(length: number): number {
    const free = this.#free.get(length)?.pop()
    if (free !== undefined) {
      this.#freed -= length
      return free
    }
    const start = this.#end
    this.#end += length
    reserveAll(this.#columns, this.#end)
    return start
  }

  give(start: number, length: number): void {
    if (length === 0) return
    const free = this.#free.get(length)
    if (free) free.push(start)
    else this.#free.set(length, [start])
    this.#freed += length
  }

  /** Copies the data of one stretch to another. */
  copy(from: number, to: number, length: number): void {
    for (const column of this.#columns) {
      for (let i = 0; i < length; i++) column.set(to + i, column.at(from + i))
    }
  }

  /** Moves the given stretches together, in the given order, and frees all others. Returns their starts. */
  compact(stretches: readonly { readonly start: number; readonly length: number }[]): number[] {
    for (const column of this.#columns) column.gather(stretches)
    this.#free.clear()
    this.#freed = 0
    this.#end = 0
    return stretches.map(({ length }) => {
      this.#end += length
      return this.#end - length
    })
  }
}

/** The edges above the nodes of a tree, each a stretch of symbols. Their data is in columns by node. */
export class NodeEdges {
  /** by node: place of its first symbol */
  readonly starts: WholeColumn = new WholeColumn()
  readonly lengths: WholeColumn = new WholeColumn()
  /** by node: places after its edge that it still owns, from symbols cut off */
  readonly #slacks: WholeColumn = new WholeColumn()
  readonly #pool: EdgePool

  /** `placeColumns`: further data by place. */
  constructor(placeColumns: readonly NumberColumn[]) {
    this.#pool = new EdgePool(placeColumns)
  }

  /** The columns that must grow with the number of nodes. */
  get columns(): readonly NumberColumn[] {
    return [this.starts, this.lengths, this.#slacks]
  }

  /** The symbols by place. */
  get symbols(): WholeColumn {
    return this.#pool.symbols
  }

  /** Number of places in use. */
  get places(): number {
    return this.#pool.size
  }

  /** Memory of the columns by place; the tree counts the columns by node. */
  get placeBytes(): number {
    return this.#pool.bytes
  }

  /** Whether more places are unused than used. */
  get isSparse(): boolean {
    return this.#pool.isSparse
  }

  /** Creates the edge of a node from the symbols of a sequence, starting at index `from`. */
  add(node: number, sequence: readonly number[], from: number): void {
    const length = sequence.length - from
    const start = this.#pool.take(length)
    const { symbols } = this.#pool
    for (let i = 0; i < length; i++) symbols.set(start + i, sequence[from + i]!)
    this.starts.set(node, start)
    this.lengths.set(node, length)
  }

  /** Returns how many symbols of a node's edge match a sequence from index `from` on. */
  sharedLength(node: number, sequence: readonly number[], from: number): number {
    const start = this.starts.at(node)
    const most = Math.min(this.lengths.at(node), sequence.length - from)
    const { symbols } = this.#pool
    let length = 0
    while (length < most && symbols.at(start + length) === sequence[from + length]) length++
    return length
  }

  /** Splits a node's edge after `length` symbols. `upper`, a copy of the node, gets the first part. */
  split(node: number, upper: number, length: number): void {
    this.lengths.set(upper, length)
    this.#slacks.set(upper, 0)
    this.starts.add(node, length)
    this.lengths.add(node, -length)
  }

  /** Prepends the parent's edge to a node's edge. */
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

  /** Shortens a node's edge to its first `kept` symbols. The node still owns the other places. */
  shorten(node: number, kept: number): void {
    this.#slacks.add(node, this.lengths.at(node) - kept)
    this.lengths.set(node, kept)
  }

  /** Frees a node's edge. */
  give(node: number): void {
    this.#pool.give(this.starts.at(node), this.lengths.at(node) + this.#slacks.at(node))
    this.#slacks.set(node, 0)
  }

  /** Moves the edges of all nodes in use together. */
  compact(used: readonly number[]): void {
    const stretches = used.map((node) => ({ start: this.starts.at(node), length: this.lengths.at(node) }))
    const starts = this.#pool.compact(stretches)
    for (let i = 0; i < used.length; i++) {
      this.starts.set(used[i]!, starts[i]!)
      this.#slacks.set(used[i]!, 0)
    }
  }
}
