import { addTo } from '../group-by.ts'
import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/**
 * The edges above the nodes of a tree, each a stretch of places that hold its symbols. A freed stretch is reused for one
 * of the same length.
 */
export class NodeEdges {
  /** symbol at each place */
  readonly symbols: WholeColumn = new WholeColumn()
  /** by node: place of its first symbol */
  readonly starts: WholeColumn = new WholeColumn()
  readonly lengths: WholeColumn = new WholeColumn()
  /** by node: places after its edge that it still owns, from symbols cut off */
  readonly #slacks: WholeColumn = new WholeColumn()
  readonly #placeColumns: readonly NumberColumn[]
  /** by length: starts of free stretches */
  readonly #free = new Map<number, number[]>()
  #end = 0
  #freed = 0

  /** `placeColumns`: further data by place. */
  constructor(placeColumns: readonly NumberColumn[]) {
    this.#placeColumns = [this.symbols, ...placeColumns]
  }

  /** The columns that must grow with the number of nodes. */
  get columns(): readonly NumberColumn[] {
    return [this.starts, this.lengths, this.#slacks]
  }

  /** Number of places in use. */
  get places(): number {
    return this.#end - this.#freed
  }

  /** Memory of the columns by place; the tree counts the columns by node. */
  get placeBytes(): number {
    return this.#placeColumns.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Whether more places are unused than used, with a margin of 1,024. */
  get isSparse(): boolean {
    return this.#freed > this.places + 1_024
  }

  /** Creates the edge of a node from the symbols of a sequence, starting at index `from`. */
  add(node: number, sequence: readonly number[], from: number): void {
    const length = sequence.length - from
    const start = this.#take(length)
    for (let i = 0; i < length; i++) this.symbols.set(start + i, sequence[from + i]!)
    this.starts.set(node, start)
    this.lengths.set(node, length)
  }

  /** Returns how many symbols of a node's edge match a sequence from index `from` on. */
  sharedLength(node: number, sequence: readonly number[], from: number): number {
    const start = this.starts.at(node)
    const most = Math.min(this.lengths.at(node), sequence.length - from)
    const { symbols } = this
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
      start = this.#take(length + rest)
      this.#copy(upper, start, length)
      this.#copy(lower, start + length, rest)
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
    const length = this.lengths.at(node) + this.#slacks.at(node)
    this.#slacks.set(node, 0)
    if (length === 0) return
    addTo(this.#free, length, this.starts.at(node))
    this.#freed += length
  }

  /** Moves the edges of all nodes in use together, in the given order, and frees everything else. */
  compact(used: readonly number[]): void {
    const stretches = used.map((node) => ({ start: this.starts.at(node), length: this.lengths.at(node) }))
    for (const column of this.#placeColumns) column.gather(stretches)
    this.#free.clear()
    this.#freed = 0
    this.#end = 0
    for (const node of used) {
      this.starts.set(node, this.#end)
      this.#slacks.set(node, 0)
      this.#end += this.lengths.at(node)
    }
  }

  /** Allocates a stretch of `length` places. Returns its start. */
  #take(length: number): number {
    const free = this.#free.get(length)?.pop()
    if (free !== undefined) {
      this.#freed -= length
      return free
    }
    const start = this.#end
    this.#end += length
    reserveAll(this.#placeColumns, this.#end)
    return start
  }

  /** Copies the data of one stretch to another. */
  #copy(from: number, to: number, length: number): void {
    for (const column of this.#placeColumns) {
      for (let i = 0; i < length; i++) column.set(to + i, column.at(from + i))
    }
  }
}
