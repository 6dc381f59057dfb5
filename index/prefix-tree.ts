/**
 * A node of a radix tree over the block sequences that were sent, blocks by number. Its edge holds the blocks that
 * lead here from the parent; a node ends where sequences part or end.
 */
export interface PrefixNode {
  edge: readonly number[]
  parent: PrefixNode | undefined
  /** place among the parent's children, for search paths */
  slot: number
  /** by the first block of their edges; undefined while there are none */
  children: Map<number, PrefixNode> | undefined
  nextSlot: number
  /** sequences that run through this node or end here */
  holders: number
  /** when a sequence last ran through it, on the clock of whoever inserts */
  lastUsed: number
}

/** A radix tree of sequences, each of which ends at a node. */
export class PrefixTree {
  readonly root: PrefixNode = createNode([], undefined, 0, 0)
  #nodes = 0
  #edgeBlocks = 0

  /** Nodes below the root. */
  get nodes(): number {
    return this.#nodes
  }

  /** Blocks of all edges: what the tree stores of the sequences. */
  get edgeBlocks(): number {
    return this.#edgeBlocks
  }

  /** Adds a sequence; returns the node it ends at. O(length). */
  insert(sequence: readonly number[], now: number): PrefixNode {
    let node = this.root
    let at = 0
    touch(node, now)
    while (at < sequence.length) {
      const child = node.children?.get(sequence[at]!)
      if (!child) return this.#addLeaf(node, sequence.slice(at), now)
      const shared = sharedLength(child.edge, sequence, at)
      node = shared < child.edge.length ? this.#split(child, shared) : child
      touch(node, now)
      at += shared
    }
    return node
  }

  /** The last node that shares a block of its edge with a sequence, on the sequence's own way. */
  follow(sequence: readonly number[]): PrefixNode {
    let node = this.root
    for (let at = 0; ; at += node.edge.length) {
      const child = node.children?.get(sequence[at]!)
      if (!child) return node
      node = child
      if (sharedLength(child.edge, sequence, at) < child.edge.length) return node
    }
  }

  /** Takes out a sequence that ends at `end`; nodes that nothing needs any more go with it. */
  remove(end: PrefixNode): void {
    for (let node: PrefixNode | undefined = end; node; ) {
      const parent: PrefixNode | undefined = node.parent
      node.holders -= 1
      if (parent && node.holders === 0) this.#drop(node, parent)
      else if (parent) this.#mergeWithOnlyChild(node, parent)
      node = parent
    }
  }

  #addLeaf(parent: PrefixNode, edge: readonly number[], now: number): PrefixNode {
    const leaf = createNode(edge, parent, parent.nextSlot++, now)
    leaf.holders = 1
    childrenOf(parent).set(edge[0]!, leaf)
    this.#nodes += 1
    this.#edgeBlocks += edge.length
    return leaf
  }

  #drop(node: PrefixNode, parent: PrefixNode): void {
    parent.children!.delete(node.edge[0]!)
    if (parent.children!.size === 0) parent.children = undefined
    this.#nodes -= 1
    this.#edgeBlocks -= node.edge.length
  }

  /** Puts a node between `node` and its parent, with the first `length` blocks of the edge. */
  #split(node: PrefixNode, length: number): PrefixNode {
    const upper = createNode(node.edge.slice(0, length), node.parent, node.slot, node.lastUsed)
    upper.holders = node.holders
    childrenOf(node.parent!).set(upper.edge[0]!, upper)
    node.edge = node.edge.slice(length)
    node.parent = upper
    node.slot = upper.nextSlot++
    childrenOf(upper).set(node.edge[0]!, node)
    this.#nodes += 1
    return upper
  }

  /** Takes a node out at which nothing parts or ends any more; its only child takes its place. */
  #mergeWithOnlyChild(node: PrefixNode, parent: PrefixNode): void {
    if (node.children?.size !== 1) return
    const [child] = node.children.values()
    if (child!.holders !== node.holders) return
    child!.edge = node.edge.concat(child!.edge)
    child!.parent = parent
    child!.slot = node.slot
    parent.children!.set(child!.edge[0]!, child!)
    this.#nodes -= 1
  }
}

/** The nodes from below the root to `node`. */
export function pathTo(node: PrefixNode): PrefixNode[] {
  const path: PrefixNode[] = []
  for (let at = node; at.parent; at = at.parent) path.push(at)
  return path.reverse()
}

function createNode(
  edge: readonly number[],
  parent: PrefixNode | undefined,
  slot: number,
  lastUsed: number,
): PrefixNode {
  return { edge, parent, slot, children: undefined, nextSlot: 0, holders: 0, lastUsed }
}

function childrenOf(node: PrefixNode): Map<number, PrefixNode> {
  node.children ??= new Map()
  return node.children
}

function touch(node: PrefixNode, now: number): void {
  node.holders += 1
  node.lastUsed = Math.max(node.lastUsed, now)
}

function sharedLength(edge: readonly number[], sequence: readonly number[], from: number): number {
  let length = 0
  while (length < edge.length && edge[length] === sequence[from + length]) length++
  return length
}
