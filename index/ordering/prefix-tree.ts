import { WholeColumn } from '../columns/number-column.ts'
import { SequenceTree } from '../columns/sequence-tree.ts'

/** A node number. The number of a sequence's end node stays the same until the sequence is removed. */
export type PrefixNode = number

/**
 * A radix tree over the block sequences that were sent, with blocks by number. The edge of a node holds the blocks
 * between its parent and it. There is a node wherever sequences branch or end. It takes 51 to 61 bytes per node, and
 * four bytes per block of its edge.
 */
export class PrefixTree {
  /** slot among the parent's children, for search paths */
  readonly #slots = new WholeColumn()
  readonly #nextSlots = new WholeColumn()
  /** when a sequence through a node was last inserted, on the caller's clock */
  readonly #lastUsed: WholeColumn = new WholeColumn()
  readonly #tree: SequenceTree = new SequenceTree({
    nodeColumns: [this.#slots, this.#nextSlots, this.#lastUsed],
    onDrop: (start, length) => {
      for (let place = start; place < start + length; place++) this.#onDrop(this.#tree.symbolAt(place))
    },
    onSplit: (node, upper) => {
      this.#slots.set(node, 0)
      this.#nextSlots.set(upper, 1)
    },
    onMerge: (node, child) => {
      this.#slots.set(child, this.#slots.at(node))
    },
  })
  readonly root: PrefixNode = this.#tree.root
  readonly #onDrop: (block: number) => void

  /** `onDrop` is called for every place of a block that is dropped. */
  constructor(onDrop: (block: number) => void) {
    this.#onDrop = onDrop
  }

  /** Number of nodes below the root. */
  get nodes(): number {
    return this.#tree.nodes
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#tree.bytes
  }

  /** Adds a sequence and returns its end node. Blocks from index `known` on are at new places. O(length). */
  insert(sequence: readonly number[], now: number): { readonly end: PrefixNode; readonly known: number } {
    const { end, known } = this.#tree.insert(sequence)
    if (known < sequence.length) {
      const parent = this.#tree.parents.at(end)
      this.#slots.set(end, this.#nextSlots.at(parent))
      this.#nextSlots.add(parent, 1)
    }
    for (let node = end; node >= 0; node = this.#tree.parents.at(node)) {
      if (this.#lastUsed.at(node) < now) this.#lastUsed.set(node, now)
    }
    return { end, known }
  }

  /** Removes a sequence that ends at `end`, and all nodes that nothing needs any more. */
  remove(end: PrefixNode): void {
    this.#tree.remove(end)
  }

  /** Removes all sequences. */
  clear(): void {
    this.#tree.clear()
  }

  /** Cuts a sequence that ends at `end` to its first `length` blocks. Returns its new end node. */
  cut(end: PrefixNode, length: number): PrefixNode {
    return this.#tree.cut(end, length)
  }

  /** Follows a sequence from the root. Returns the last node with a block of its edge in common. */
  follow(sequence: readonly number[]): PrefixNode {
    let node = this.root
    for (let at = 0; at < sequence.length; at += this.edgeLength(node)) {
      const child = this.#tree.child(node, sequence[at]!)
      if (child < 0) return node
      node = child
      for (let i = 1; i < this.edgeLength(node); i++) if (this.blockAt(node, i) !== sequence[at + i]) return node
    }
    return node
  }

  /** Returns when a sequence through a node was last inserted. */
  lastUsed(node: PrefixNode): number {
    return this.#lastUsed.at(node)
  }

  /** Returns the number of blocks on a node's edge. */
  edgeLength(node: PrefixNode): number {
    return node === this.root ? 0 : this.#tree.lengths.at(node)
  }

  /** Returns block `i` of a node's edge. */
  blockAt(node: PrefixNode, i: number): number {
    return this.#tree.symbolAt(this.#tree.starts.at(node) + i)
  }

  /** Returns the child whose edge begins with a block; −1 if there is none. */
  child(node: PrefixNode, block: number): PrefixNode {
    return this.#tree.child(node, block)
  }

  /** Returns the child of a node that has exactly one; otherwise −1. */
  onlyChild(node: PrefixNode): PrefixNode {
    return this.#tree.onlyChild(node)
  }

  /** Returns the number of children of a node. */
  countChildren(node: PrefixNode): number {
    return this.#tree.countChildren(node)
  }

  /** Returns the slot of a node among its parent's children. Later children have higher slots. */
  slotOf(node: PrefixNode): number {
    return this.#slots.at(node)
  }

  /** Returns the blocks from the root to the end of a node's edge. */
  blocksTo(node: PrefixNode): number[] {
    return this.#tree.sequenceTo(node)
  }

  /** Returns the search path to a node. */
  slotsTo(node: PrefixNode): number[] {
    return this.#tree.pathTo(node).map((at) => this.#slots.at(at))
  }
}
