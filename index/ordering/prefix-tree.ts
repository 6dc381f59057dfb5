import { WholeColumn } from '../columns/number-column.ts'
import { SequenceTree } from '../columns/sequence-tree.ts'

/** A node number. The number of a sequence's end node stays the same until the sequence is removed. */
export type PrefixNode = number

/**
 * A radix tree over the block sequences that were sent, with blocks by number. The edge of a node holds the blocks
 * between its parent and it. There is a node wherever sequences branch or end. It takes 55 to 65 bytes per node, and
 * four bytes per block of its edge.
 */
export class PrefixTree extends SequenceTree {
  /** by node: slot among the parent's children, for search paths; later children have higher slots */
  readonly slots: WholeColumn
  /** by node: when a sequence through it was last inserted, on the caller's clock */
  readonly lastUsed: WholeColumn
  readonly #nextSlots: WholeColumn
  /** by node: a bit for each last five bits that the first block of a child has, or had */
  readonly #firstBlocks: WholeColumn

  /** `onDrop` is called for every place of a block that is dropped. */
  constructor(onDrop: (block: number) => void) {
    const columns = [new WholeColumn(), new WholeColumn(), new WholeColumn(), new WholeColumn()] as const
    const [slots, nextSlots, lastUsed, firstBlocks] = columns
    super({
      nodeColumns: columns,
      onDrop: (start, length) => {
        for (let place = start; place < start + length; place++) onDrop(this.symbolAt(place))
      },
      onSplit: (node, upper) => {
        slots.set(node, 0)
        nextSlots.set(upper, 1)
        firstBlocks.set(upper, 1 << this.blockAt(node, 0))
      },
      onMerge: (node, child) => {
        slots.set(child, slots.at(node))
      },
    })
    this.slots = slots
    this.lastUsed = lastUsed
    this.#nextSlots = nextSlots
    this.#firstBlocks = firstBlocks
  }

  /** Adds a sequence and returns its end node. Blocks from index `known` on are at new places. O(length). */
  insertAt(now: number, sequence: readonly number[]): { readonly end: PrefixNode; readonly known: number } {
    const { end, known } = this.insert(sequence)
    if (known < sequence.length) {
      const parent = this.parents.at(end)
      this.slots.set(end, this.#nextSlots.at(parent))
      this.#nextSlots.add(parent, 1)
      this.#firstBlocks.set(parent, this.#firstBlocks.at(parent) | (1 << this.blockAt(end, 0)))
    }
    for (let node = end; node >= 0; node = this.parents.at(node)) {
      if (this.lastUsed.at(node) < now) this.lastUsed.set(node, now)
    }
    return { end, known }
  }

  /** Like `child`, for a block that is mostly none of a child's: most of these are known without a look-up. */
  override child(node: PrefixNode, block: number): PrefixNode {
    return (this.#firstBlocks.at(node) & (1 << block)) === 0 ? -1 : super.child(node, block)
  }

  /** Returns block `i` of a node's edge. */
  blockAt(node: PrefixNode, i: number): number {
    return this.symbolAt(this.starts.at(node) + i)
  }

  /** Returns the search path to a node. */
  slotsTo(node: PrefixNode): number[] {
    return this.pathTo(node).map((at) => this.slots.at(at))
  }
}
