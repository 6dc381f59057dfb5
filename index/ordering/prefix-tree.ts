import { WholeColumn } from '../columns/number-column.ts'
import { SequenceTree } from '../columns/sequence-tree.ts'

/** A node: a number, which stays that of a sequence's end until the sequence is removed. */
export type PrefixNode = number

/**
 * A radix tree over the block sequences that were sent, blocks by number. The edge of a node holds the blocks that lead to
 * it from its parent; a node ends where sequences part or end. 51 to 61 bytes a node and four a block of its edge.
 */
export class PrefixTree {
  /** place among the parent's children, for search paths */
  readonly #slots = new WholeColumn()
  readonly #nextSlots = new WholeColumn()
  /** when a sequence last ran through a node, on the clock of whoever inserts */
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

  /** `onDrop` hears of every place of a block that is let go of. */
  constructor(onDrop: (block: number) => void) {
    this.#onDrop = onDrop
  }

  /** Nodes below the root. */
  get nodes(): number {
    return this.#tree.nodes
  }

  /** An estimate of the memory it takes. */
  get bytes(): number {
    return this.#tree.bytes
  }

  /** Adds a sequence; returns the node it ends at. Blocks from `known` on lie at new places. O(length). */
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

  /** Takes out a sequence that ends at `end`; nodes that nothing needs any more go with it. */
  remove(end: PrefixNode): void {
    this.#tree.remove(end)
  }

  /** Takes out all sequences. */
  clear(): void {
    this.#tree.clear()
  }

  /** Of a sequence that ends at `end` the first `length` blocks stay; returns the node they end at. */
  cut(end: PrefixNode, length: number): PrefixNode {
    return this.#tree.cut(end, length)
  }

  /** The last node that shares a block of its edge with a sequence, on the sequence's own way. */
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

  /** When a sequence last ran through a node. */
  lastUsed(node: PrefixNode): number {
    return this.#lastUsed.at(node)
  }

  /** How many blocks lead to a node from its parent. */
  edgeLength(node: PrefixNode): number {
    return node === this.root ? 0 : this.#tree.lengths.at(node)
  }

  /** A block of those that lead to a node from its parent. */
  blockAt(node: PrefixNode, i: number): number {
    return this.#tree.symbolAt(this.#tree.starts.at(node) + i)
  }

  /** The child that begins with a block; −1 when there is none. */
  child(node: PrefixNode, block: number): PrefixNode {
    return this.#tree.child(node, block)
  }

  /** The child of a node that has but one; −1 where it has none, or more. */
  onlyChild(node: PrefixNode): PrefixNode {
    return this.#tree.onlyChild(node)
  }

  /** How many children a node has. */
  countChildren(node: PrefixNode): number {
    return this.#tree.countChildren(node)
  }

  /** The place of a node among its parent's children: those that came later have a later one. */
  slotOf(node: PrefixNode): number {
    return this.#slots.at(node)
  }

  /** The blocks from below the root to the end of a node. */
  blocksTo(node: PrefixNode): number[] {
    return this.#tree.sequenceTo(node)
  }

  /** The search path to a node. */
  slotsTo(node: PrefixNode): number[] {
    return this.#tree.pathTo(node).map((at) => this.#slots.at(at))
  }
}
