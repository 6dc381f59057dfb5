import { ChildTable } from './child-table.ts'
import { EdgePool } from './edge-pool.ts'
import { type NumberColumn, reserveAll, wholeColumn } from './number-column.ts'

/** What users of a tree keep in it besides. */
export interface SequenceTreeOptions {
  /** by node; the upper half of a node that is split has what the whole had */
  readonly nodeColumns?: readonly NumberColumn<Int32Array | Float64Array>[]
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
 * A radix tree of sequences of whole numbers. Nodes are numbers, and all that is known of them lies in columns: some
 * thirty bytes a node and four a place. A sequence ends at a node, whose number stays until the sequence is removed.
 */
export class SequenceTree {
  /** where all sequences begin */
  readonly root = 0
  /** by node */
  readonly parents: NumberColumn = wholeColumn()
  readonly starts: NumberColumn = wholeColumn()
  readonly lengths: NumberColumn = wholeColumn()
  /** sequences that run through a node or end there */
  readonly holders: NumberColumn = wholeColumn()
  readonly #children: NumberColumn = wholeColumn()
  /** all children of a node, each taken in by exclusive or: of an only child its number */
  readonly #childXor: NumberColumn = wholeColumn()
  /** places behind a node's edge that are its own still: what was cut off often comes back */
  readonly #slacks: NumberColumn = wholeColumn()
  readonly #columns: readonly NumberColumn<Int32Array | Float64Array>[]
  readonly #options: SequenceTreeOptions
  readonly #pool: EdgePool
  readonly #table: ChildTable
  readonly #unused: number[] = []
  #end = 1

  constructor(options: SequenceTreeOptions = {}) {
    const { nodeColumns = [], placeColumns = [] } = options
    const own = [this.parents, this.starts, this.lengths, this.holders, this.#children, this.#childXor, this.#slacks]
    this.#columns = [...own, ...nodeColumns]
    this.#options = options
    this.#pool = new EdgePool(placeColumns)
    const { symbols } = this.#pool
    this.#table = new ChildTable(this.parents, (node) => symbols.array[this.starts.array[node]!]!)
    this.parents.array[0] = -1
  }

  /** Nodes below the root. */
  get nodes(): number {
    return this.#end - 1 - this.#unused.length
  }

  /** Places of all edges. */
  get places(): number {
    return this.#pool.size
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0) + this.#pool.bytes + this.#table.bytes
  }

  /** The symbol at a place. */
  symbolAt(place: number): number {
    return this.#pool.symbols.array[place]!
  }

  /** The child of a node whose edge begins with a symbol; −1 when there is none. */
  child(node: number, symbol: number): number {
    return this.#children.array[node] === 0 ? -1 : this.#table.find(node, symbol)
  }

  /** The child of a node that has but one; −1 where it has none, or more. */
  onlyChild(node: number): number {
    return this.#children.array[node] === 1 ? this.#childXor.array[node]! : -1
  }

  /** How many children a node has. */
  countChildren(node: number): number {
    return this.#children.array[node]!
  }

  /** The symbols from below the root to the end of a node. */
  sequenceTo(node: number): number[] {
    const symbols: number[] = []
    for (const at of this.pathTo(node)) {
      const start = this.starts.array[at]!
      for (let i = 0; i < this.lengths.array[at]!; i++) symbols.push(this.symbolAt(start + i))
    }
    return symbols
  }

  /** Adds a sequence; returns the node it ends at. Places behind `known` are new: the last ones of that node's edge. */
  insert(sequence: readonly number[]): { readonly end: number; readonly known: number } {
    let node = this.root
    let at = 0
    this.holders.array[node]! += 1
    while (at < sequence.length) {
      const child = this.child(node, sequence[at]!)
      if (child < 0) return { end: this.#addLeaf(node, sequence, at), known: at }
      const shared = this.#sharedLength(child, sequence, at)
      node = shared < this.lengths.array[child]! ? this.split(child, shared) : child
      this.holders.array[node]! += 1
      at += shared
    }
    return { end: node, known: at }
  }

  /** Takes out a sequence that ends at `end`; nodes that nothing needs any more go with it. */
  remove(end: number): void {
    for (let node = end; node >= 0; ) {
      const parent = this.parents.array[node]!
      this.#leave(node, parent)
      node = parent
    }
    if (this.#pool.isSparse) this.#compact()
  }

  /**
   * Of a sequence that ends at `end` the first `length` symbols stay, one at least; returns where they end. Nodes that
   * nothing needs any more go with the rest.
   */
  cut(end: number, length: number): number {
    let depth = 0
    for (let at = end; at > 0; at = this.parents.array[at]!) depth += this.lengths.array[at]!
    let node = end
    while (depth - this.lengths.array[node]! >= length) {
      const parent = this.parents.array[node]!
      depth -= this.lengths.array[node]!
      this.#leave(node, parent)
      node = parent
    }
    if (depth > length) node = this.#leaveTail(node, this.lengths.array[node]! - (depth - length))
    if (this.#pool.isSparse) this.#compact()
    return node
  }

  /** The nodes from below the root to `node`. */
  pathTo(node: number): number[] {
    const path: number[] = []
    for (let at = node; at > 0; at = this.parents.array[at]!) path.push(at)
    return path.reverse()
  }

  /** Parts the edge of a node after `length` symbols; returns the upper node, which is new. */
  split(node: number, length: number): number {
    const upper = this.#newNode()
    for (const { array } of this.#columns) array[upper] = array[node]!
    this.lengths.array[upper] = length
    this.#slacks.array[upper] = 0
    this.#children.array[upper] = 1
    this.#childXor.array[upper] = node
    const parent = this.parents.array[node]!
    this.#table.replace(node, upper)
    this.#childXor.array[parent]! ^= node ^ upper
    this.parents.array[node] = upper
    this.starts.array[node]! += length
    this.lengths.array[node]! -= length
    this.#table.add(node)
    this.#options.onSplit?.(node, upper)
    return upper
  }

  /** Takes a node out at which nothing parts or ends any more; its only child takes its place. */
  mergeWithOnlyChild(node: number): void {
    if (this.#children.array[node] !== 1) return
    const child = this.#childXor.array[node]!
    if (this.holders.array[child] !== this.holders.array[node] || this.#options.mayMerge?.(node, child) === false)
      return
    const parent = this.parents.array[node]!
    this.#table.delete(child)
    const start = this.#joined(node, child)
    this.#table.replace(node, child)
    this.parents.array[child] = parent
    this.#childXor.array[parent]! ^= node ^ child
    this.starts.array[child] = start
    this.lengths.array[child]! += this.lengths.array[node]!
    this.#options.onMerge?.(node, child)
    this.#unused.push(node)
  }

  clear(): void {
    for (const { array } of this.#columns) array[0] = 0
    this.parents.array[0] = -1
    this.#unused.length = 0
    this.#end = 1
    this.#pool.compact([])
    this.#table.clear()
  }

  /** Where the edges of a node and its child lie in one stretch. */
  #joined(node: number, child: number): number {
    const [starts, lengths] = [this.starts.array, this.lengths.array]
    const [upper, lower] = [starts[node]!, starts[child]!]
    const [length, rest] = [lengths[node]!, lengths[child]!]
    if (upper + length === lower) return upper
    const start = this.#pool.take(length + rest)
    this.#pool.copy(upper, start, length)
    this.#pool.copy(lower, start + length, rest)
    this.#giveEdge(node)
    this.#giveEdge(child)
    return start
  }

  #addLeaf(parent: number, sequence: readonly number[], from: number): number {
    const node = this.#newNode()
    const length = sequence.length - from
    const start = this.#pool.take(length)
    for (let i = 0; i < length; i++) this.#pool.symbols.array[start + i] = sequence[from + i]!
    for (const { array } of this.#columns) array[node] = 0
    this.parents.array[node] = parent
    this.starts.array[node] = start
    this.lengths.array[node] = length
    this.holders.array[node] = 1
    this.#table.add(node)
    this.#children.array[parent]! += 1
    this.#childXor.array[parent]! ^= node
    return node
  }

  /** One sequence fewer runs through a node, or ends there. */
  #leave(node: number, parent: number): void {
    this.holders.array[node]! -= 1
    if (parent < 0) return
    if (this.holders.array[node] === 0) this.#drop(node, parent)
    else this.mergeWithOnlyChild(node)
  }

  /** A sequence that ends at a node ends behind the first `kept` symbols of its edge from now on; returns where. */
  #leaveTail(node: number, kept: number): number {
    if (this.holders.array[node]! > 1) {
      const upper = this.split(node, kept)
      this.#leave(node, upper)
      return upper
    }
    const length = this.lengths.array[node]! - kept
    this.#options.onDrop?.(this.starts.array[node]! + kept, length)
    this.#slacks.array[node]! += length
    this.lengths.array[node] = kept
    return node
  }

  #drop(node: number, parent: number): void {
    this.#table.delete(node)
    this.#options.onDrop?.(this.starts.array[node]!, this.lengths.array[node]!)
    this.#giveEdge(node)
    this.#children.array[parent]! -= 1
    this.#childXor.array[parent]! ^= node
    this.#unused.push(node)
  }

  #giveEdge(node: number): void {
    this.#pool.give(this.starts.array[node]!, this.lengths.array[node]! + this.#slacks.array[node]!)
    this.#slacks.array[node] = 0
  }

  #newNode(): number {
    const unused = this.#unused.pop()
    if (unused !== undefined) return unused
    const node = this.#end++
    reserveAll(this.#columns, this.#end)
    return node
  }

  #sharedLength(node: number, sequence: readonly number[], from: number): number {
    const start = this.starts.array[node]!
    const most = Math.min(this.lengths.array[node]!, sequence.length - from)
    const symbols = this.#pool.symbols.array
    let length = 0
    while (length < most && symbols[start + length] === sequence[from + length]) length++
    return length
  }

  #compact(): void {
    const unused = new Set(this.#unused)
    const used = Array.from({ length: this.#end }, (_, node) => node).filter((node) => node > 0 && !unused.has(node))
    const stretches = used.map((node) => ({ start: this.starts.array[node]!, length: this.lengths.array[node]! }))
    for (const [i, start] of this.#pool.compact(stretches).entries()) {
      this.starts.array[used[i]!] = start
      this.#slacks.array[used[i]!] = 0
    }
  }
}
