import { ChildTable } from './child-table.ts'
import { NodeEdges } from './node-edges.ts'
import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/** Additional data that users keep in a tree, and callbacks. */
interface SequenceTreeOptions {
  /** by node; a split copies the node's data to its upper half */
  readonly nodeColumns?: readonly NumberColumn[]
  /** by place on an edge */
  readonly placeColumns?: readonly NumberColumn[]
  /** Returns whether the data of a node and its only child allows merging them; default: true. */
  readonly mayMerge?: (node: number, child: number) => boolean
  /** Called after a node was split, with its new upper half. */
  readonly onSplit?: (node: number, upper: number) => void
  /** Called when a node is replaced by its only child. */
  readonly onMerge?: (node: number, child: number) => void
  /** Called before places are freed. */
  readonly onDrop?: (start: number, length: number) => void
}

/**
 * A radix tree of integer sequences. Nodes are numbers, and their data is in columns: 28 bytes per node, 11 to 21 more
 * in the table of children, and four per place. A sequence ends at a node, whose number stays the same until the
 * sequence is removed.
 */
export class SequenceTree {
  /** the node where all sequences begin */
  readonly root = 0
  /** by node */
  readonly parents: WholeColumn = new WholeColumn()
  readonly starts: WholeColumn
  readonly lengths: WholeColumn
  /** number of sequences that pass through a node or end there */
  readonly holders: WholeColumn = new WholeColumn()
  readonly #children: WholeColumn = new WholeColumn()
  /** XOR of all children of a node; for an only child, its number */
  readonly #childXor: WholeColumn = new WholeColumn()
  readonly #columns: readonly NumberColumn[]
  readonly #options: SequenceTreeOptions
  readonly #edges: NodeEdges
  readonly #table: ChildTable
  readonly #unused: number[] = []
  #end = 1

  constructor(options: SequenceTreeOptions = {}) {
    const { nodeColumns = [], placeColumns = [] } = options
    this.#edges = new NodeEdges(placeColumns)
    const { starts, lengths, symbols } = this.#edges
    this.starts = starts
    this.lengths = lengths
    const own = [this.parents, this.holders, this.#children, this.#childXor]
    this.#columns = [...own, ...this.#edges.columns, ...nodeColumns]
    this.#options = options
    this.#table = new ChildTable(this.parents, (node) => symbols.at(this.starts.at(node)))
    this.#makeRoot()
  }

  /** Number of nodes below the root. */
  get nodes(): number {
    return this.#end - 1 - this.#unused.length
  }

  /** Number of places in use. */
  get places(): number {
    return this.#edges.places
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0) + this.#edges.placeBytes + this.#table.bytes
  }

  /** Returns the symbol at a place. */
  symbolAt(place: number): number {
    return this.#edges.symbols.at(place)
  }

  /** Returns the child of a node whose edge begins with a symbol; −1 if there is none. */
  child(node: number, symbol: number): number {
    return this.#children.at(node) === 0 ? -1 : this.#table.find(node, symbol)
  }

  /** Returns the child of a node that has exactly one; otherwise −1. */
  onlyChild(node: number): number {
    return this.#children.at(node) === 1 ? this.#childXor.at(node) : -1
  }

  /** Returns the number of children of a node. */
  countChildren(node: number): number {
    return this.#children.at(node)
  }

  /** Returns the places from the root to the end of a node's edge. */
  placesTo(node: number): number[] {
    const places: number[] = []
    for (const at of this.pathTo(node)) {
      const start = this.starts.at(at)
      for (let i = 0; i < this.lengths.at(at); i++) places.push(start + i)
    }
    return places
  }

  /** Returns the symbols from the root to the end of a node's edge. */
  sequenceTo(node: number): number[] {
    return this.placesTo(node).map((place) => this.symbolAt(place))
  }

  /**
   * Follows a sequence of `length` symbols from the root, as far as it leads. Returns the last node with a symbol of its
   * edge in common, and how many symbols lead there.
   */
  follow(length: number, symbolOf: (at: number) => number): { readonly node: number; readonly known: number } {
    let node = this.root
    let known = 0
    while (known < length) {
      const child = this.child(node, symbolOf(known))
      if (child < 0) break
      node = child
      const first = this.starts.at(node) - known
      const end = Math.min(length, known + this.lengths.at(node))
      for (known += 1; known < end; known++)
        if (this.symbolAt(first + known) !== symbolOf(known)) return { node, known }
    }
    return { node, known }
  }

  /**
   * Adds a sequence and returns its end node. Symbols from index `known` on are at new places at the end of its edge.
   */
  insert(sequence: readonly number[]): { readonly end: number; readonly known: number } {
    let node = this.root
    let at = 0
    this.holders.add(node, 1)
    while (at < sequence.length) {
      const child = this.child(node, sequence[at]!)
      if (child < 0) return { end: this.#addLeaf(node, sequence, at), known: at }
      const shared = this.#edges.sharedLength(child, sequence, at)
      node = shared < this.lengths.at(child) ? this.split(child, shared) : child
      this.holders.add(node, 1)
      at += shared
    }
    return { end: node, known: at }
  }

  /** Removes a sequence that ends at `end`, and all nodes that nothing needs any more. */
  remove(end: number): void {
    for (let node = end; node >= 0; ) {
      const parent = this.parents.at(node)
      this.#leave(node, parent)
      node = parent
    }
    if (this.#edges.isSparse) this.#edges.compact(this.#used())
  }

  /**
   * Cuts a sequence that ends at `end` to its first `length` symbols, at least one. Returns its new end node. Nodes
   * that nothing needs any more are removed.
   */
  cut(end: number, length: number): number {
    let depth = 0
    for (let at = end; at > 0; at = this.parents.at(at)) depth += this.lengths.at(at)
    let node = end
    while (depth - this.lengths.at(node) >= length) {
      const parent = this.parents.at(node)
      depth -= this.lengths.at(node)
      this.#leave(node, parent)
      node = parent
    }
    if (depth > length) node = this.#leaveTail(node, this.lengths.at(node) - (depth - length))
    if (this.#edges.isSparse) this.#edges.compact(this.#used())
    return node
  }

  /** Returns the nodes from below the root to `node`. */
  pathTo(node: number): number[] {
    const path: number[] = []
    for (let at = node; at > 0; at = this.parents.at(at)) path.push(at)
    return path.reverse()
  }

  /** Splits the edge of a node after `length` symbols. Returns the upper node, which is new. */
  split(node: number, length: number): number {
    const upper = this.#newNode()
    for (const column of this.#columns) column.set(upper, column.at(node))
    this.#children.set(upper, 1)
    this.#childXor.set(upper, node)
    const parent = this.parents.at(node)
    this.#table.replace(node, upper)
    this.#childXor.toggle(parent, node ^ upper)
    this.parents.set(node, upper)
    this.#edges.split(node, upper, length)
    this.#table.add(node)
    this.#options.onSplit?.(node, upper)
    return upper
  }

  /** Replaces a node with its only child if no sequence branches or ends at the node any more. */
  mergeWithOnlyChild(node: number): void {
    if (this.#children.at(node) !== 1) return
    const child = this.#childXor.at(node)
    if (this.holders.at(child) !== this.holders.at(node) || this.#options.mayMerge?.(node, child) === false) return
    const parent = this.parents.at(node)
    this.#table.delete(child)
    this.#table.replace(node, child)
    this.parents.set(child, parent)
    this.#childXor.toggle(parent, node ^ child)
    this.#edges.join(node, child)
    this.#options.onMerge?.(node, child)
    this.#free(node)
  }

  clear(): void {
    if (this.#options.onDrop) {
      for (const node of this.#used()) this.#options.onDrop(this.starts.at(node), this.lengths.at(node))
    }
    for (const column of this.#columns) column.clear()
    this.#makeRoot()
    this.#unused.length = 0
    this.#end = 1
    this.#edges.compact([])
    this.#table.clear()
  }

  #addLeaf(parent: number, sequence: readonly number[], from: number): number {
    const node = this.#newNode()
    this.#edges.add(node, sequence, from)
    this.parents.set(node, parent)
    this.holders.set(node, 1)
    this.#table.add(node)
    this.#children.add(parent, 1)
    this.#childXor.toggle(parent, node)
    return node
  }

  /** Removes one sequence from the holders of a node. */
  #leave(node: number, parent: number): void {
    this.holders.add(node, -1)
    if (parent < 0) return
    if (this.holders.at(node) === 0) this.#drop(node, parent)
    else this.mergeWithOnlyChild(node)
  }

  /** Makes a sequence that ends at a node end after the first `kept` symbols of its edge. Returns its new end node. */
  #leaveTail(node: number, kept: number): number {
    if (this.holders.at(node) > 1) {
      const upper = this.split(node, kept)
      this.#leave(node, upper)
      return upper
    }
    this.#options.onDrop?.(this.starts.at(node) + kept, this.lengths.at(node) - kept)
    this.#edges.shorten(node, kept)
    return node
  }

  #drop(node: number, parent: number): void {
    this.#table.delete(node)
    this.#options.onDrop?.(this.starts.at(node), this.lengths.at(node))
    this.#edges.give(node)
    this.#children.add(parent, -1)
    this.#childXor.toggle(parent, node)
    this.#free(node)
  }

  /** Frees a node. A length of 0 marks it as unused. */
  #free(node: number): void {
    this.lengths.set(node, 0)
    this.#unused.push(node)
  }

  /** Returns an unused node with 0 in all columns. */
  #newNode(): number {
    const unused = this.#unused.pop()
    if (unused === undefined) {
      reserveAll(this.#columns, this.#end + 1)
      return this.#end++
    }
    for (const column of this.#columns) column.set(unused, 0)
    return unused
  }

  #makeRoot(): void {
    reserveAll(this.#columns, 1)
    this.parents.set(this.root, -1)
  }

  /** Returns all nodes in use except the root. */
  #used(): number[] {
    const nodes: number[] = []
    for (let node = 1; node < this.#end; node++) if (this.lengths.at(node) > 0) nodes.push(node)
    return nodes
  }
}
