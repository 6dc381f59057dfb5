import type { BlockId, Context } from './context-block.ts'

/**
 * A node of a radix tree over the block sequences that were sent. Its edge holds the blocks that lead here from the
 * parent; a node ends where sequences part or end.
 */
export interface PrefixNode {
  edge: Context
  /** what each block of the edge costs to prefill */
  sizes: readonly number[]
  parent: PrefixNode | undefined
  /** place among the parent's children, for search paths */
  slot: number
  /** by the first block of their edges */
  readonly children: Map<BlockId, PrefixNode>
  nextSlot: number
  /** sequences that run through this node or end here */
  holders: number
}

/** The root of an empty tree. */
export function createPrefixTree(): PrefixNode {
  return createNode([], [], undefined, 0)
}

/** Adds a sequence; returns how many nodes that made. */
export function insertSequence(root: PrefixNode, sequence: Context, sizes: readonly number[]): number {
  let node = root
  let at = 0
  let created = 0
  root.holders += 1
  while (at < sequence.length) {
    const child = node.children.get(sequence[at]!)
    if (!child) {
      const leaf = createNode(sequence.slice(at), sizes.slice(at), node, node.nextSlot++)
      leaf.holders = 1
      node.children.set(leaf.edge[0]!, leaf)
      return created + 1
    }
    const shared = sharedLength(child.edge, sequence, at)
    if (shared < child.edge.length) {
      node = split(child, shared)
      created += 1
    } else node = child
    node.holders += 1
    at += shared
  }
  return created
}

/** Takes out a sequence that is in the tree; returns how many nodes went with it. */
export function removeSequence(root: PrefixNode, sequence: Context): number {
  const path = pathOfSequence(root, sequence)
  root.holders -= 1
  let removed = 0
  for (const node of path.reverse()) {
    node.holders -= 1
    if (node.holders === 0) {
      node.parent!.children.delete(node.edge[0]!)
      removed += 1
    } else if (mergeWithOnlyChild(node)) removed += 1
  }
  return removed
}

/** The nodes from below the root to where a sequence that is in the tree ends. */
export function pathOfSequence(root: PrefixNode, sequence: Context): PrefixNode[] {
  const path: PrefixNode[] = []
  let node = root
  for (let at = 0; at < sequence.length; at += node.edge.length) {
    node = node.children.get(sequence[at]!)!
    path.push(node)
  }
  return path
}

function createNode(edge: Context, sizes: readonly number[], parent: PrefixNode | undefined, slot: number): PrefixNode {
  return { edge, sizes, parent, slot, children: new Map(), nextSlot: 0, holders: 0 }
}

/** Puts a node between `node` and its parent, with the first `length` blocks of the edge. */
function split(node: PrefixNode, length: number): PrefixNode {
  const upper = createNode(node.edge.slice(0, length), node.sizes.slice(0, length), node.parent, node.slot)
  upper.holders = node.holders
  node.parent!.children.set(upper.edge[0]!, upper)
  node.edge = node.edge.slice(length)
  node.sizes = node.sizes.slice(length)
  node.parent = upper
  node.slot = upper.nextSlot++
  upper.children.set(node.edge[0]!, node)
  return upper
}

/** Takes a node out at which nothing parts or ends any more; its only child takes its place. */
function mergeWithOnlyChild(node: PrefixNode): boolean {
  const [child] = node.children.values()
  if (node.children.size !== 1 || child!.holders !== node.holders) return false
  child!.edge = [...node.edge, ...child!.edge]
  child!.sizes = [...node.sizes, ...child!.sizes]
  child!.parent = node.parent
  child!.slot = node.slot
  node.parent!.children.set(child!.edge[0]!, child!)
  return true
}

function sharedLength(edge: Context, sequence: Context, from: number): number {
  let length = 0
  while (length < edge.length && edge[length] === sequence[from + length]) length++
  return length
}
