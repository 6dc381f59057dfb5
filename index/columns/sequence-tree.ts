import { ChildTable } from './child-table.ts'
import { NodeEdges } from './node-edges.ts'
import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/** What users of a tree keep in it besides. */
export interface SequenceTreeOptions {
  /** by node; the upper half of a node that is split has what the whole had */
  readonly nodeColumns?: readonly NumberColumn[]
  /** by place of an edge */
  readonly placeColumns?: readonly NumberColumn[]
  /** Whether a node and its only child are alike in what is kept besides; default: they are. */
  readonly mayMerge?: (node: number, child: number) => boolean
  /** Hears of a node that was split, and of its upper half. */
  readonly onSplit?: (node: number, upper: number) => void
  /** Hears of a node whose place its only child takes. */
  readonly onMerge?: (node: number, child: number) => void
  /** Hears of places that are let go of. */
  readonly onDrop?: (start: number, length: number) => void
}

/**
 * A radix tree of sequences of whole numbers. Nodes are numbers, and all that is known of them lies in columns: 28 bytes a
 * node, 11 to 21 in the table of children, and four a place. A sequence ends at a node, whose number stays until the
 * sequence is removed.
 */
export class SequenceTree {
  /** where all sequences begin */
  readonly root = 0
  /** by node */
  readonly parents: WholeColumn = new WholeColumn()
  readonly starts: WholeColumn
  readonly lengths: WholeColumn
  /** sequences that run through a node or end there */
  readonly holders: WholeColumn = new WholeColumn()
  readonly #children: WholeColumn = new WholeColumn()
  /** all children of a node, each taken in by exclusive or: of an only child its number */
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

  /** Nodes below the root. */
  get nodes(): number {
    return this.#end - 1 - this.#unused.length
  }

  /** Places of all edges. */
  get places(): number {
    return this.#edges.places
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0) + this.#edges.placeBytes + this.#table.bytes
  }

  /** The symbol at a place. */
  symbolAt(place: number): number {
    return this.#edges.symbols.at(place)
  }

  /** The child of a node whose edge begins with a symbol; −1 when there is none. */
  child(node: number, symbol: number): number {
    return this.#children.at(node) === 0 ? -1 : this.#table.find(node, symbol)
  }

  /** The child of a node that has but one; −1 where it has none, or more. */
  onlyChild(node: number): number {
    return this.#children.at(node) === 1 ? this.#childXor.at(node) : -1
  }

  /** How many children a node has. */
  countChildren(node: number): number {
    return this.#children.at(node)
  }

  /** The symbols from below the root to the end of a node. */
  sequenceTo(node: number): number[] {
    const symbols: number[] = []
    for (const at of this.pathTo(node)) {
      const start = this.starts.at(at)
      for (let i = 0; i < this.lengths.at(at); i++) symbols.push(this.symbolAt(start + i))
    }
    return symbols
  }

  /** Adds a sequence; returns the node it ends at. Places behind `known` are new: the last ones of that node's edge. */
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

  /** Takes out a sequence that ends at `end`; nodes that nothing needs any more go with it. */
  remove(end: number): void {
    for (let node = end; node >= 0; ) {
      const parent = this.parents.at(node)
      this.#leave(node, parent)
      node = parent
    }
    if (this.#edges.isSparse) this.#edges.compact(this.#used())
  }

  /**
   * Of a sequence that ends at `end` the first `length` symbols stay, one at least; returns where they end. Nodes that
   * nothing needs any more go with the rest.
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

  /** The nodes from below the root to `node`. */
  pathTo(node: number): number[] {
    const path: number[] = []
    for (let at = node; at > 0; at = this.parents.at(at)) path.push(at)
    return path.reverse()
  }

  /** Parts the edge of a node after `length` symbols; returns the upper node, which is new. */
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

  /** Takes a node out at which nothing parts or ends any more; its only child takes its place. */
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

  /** One sequence fewer runs through a node, or ends there. */
  #leave(node: number, parent: number): void {
    this.holders.add(node, -1)
    if (parent < 0) return
    if (this.holders.at(node) === 0) this.#drop(node, parent)
    else this.mergeWithOnlyChild(node)
  }

  /** A sequence that ends at a node ends behind the first `kept` symbols of its edge from now on; returns where. */
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

  /** A node is not in use any more, and has no length. */
  #free(node: number): void {
    this.lengths.set(node, 0)
    this.#unused.push(node)
  }

  /** A node of which nothing is known but 0. */
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

  /** All nodes but the root. */
  #used(): number[] {
    const nodes: number[] = []
    for (let node = 1; node < this.#end; node++) if (this.lengths.at(node) > 0) nodes.push(node)
    return nodes
  }
}
