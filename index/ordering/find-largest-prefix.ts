import type { Placement } from './placement.ts'
import type { PrefixNode, PrefixTree } from './prefix-tree.ts'

/** Search ends after this many nodes, with the best found so far: hot blocks in many orders must not stall a request. */
const mostVisits = 4_096

/** What a prefix is looked for with. */
export interface PrefixQuery {
  /** the different blocks of the context */
  readonly blocks: readonly number[]
  /** nothing is placed yet; as before afterwards */
  readonly placement: Placement
  /** by block: what it costs to prefill */
  readonly sizes: readonly number[]
  /** how likely what leads to a node is to stay, above 0 and up to 1 */
  readonly stay: (node: PrefixNode) => number
}

/**
 * Of all prefixes that were sent and can be placed, the one with the most to save: its size × how likely it is to
 * stay. Depth first over the nodes whose paths are in the context, 4,096 at most; of equals the first one found.
 * Returns its blocks.
 */
export function findLargestPrefix(tree: PrefixTree, query: PrefixQuery): readonly number[] {
  const { placement, sizes, stay } = query
  let largest = tree.root
  let length = 0
  let most = 0
  let visits = 0
  const visit = (node: PrefixNode, sizeBefore: number): void => {
    visits += 1
    const before = placement.order.length
    const size = sizeBefore + placeEdge(tree, node, placement, sizes)
    // a prefix is worth its size at most: how likely it is to stay is asked only where that can decide
    if (size > most && size * stay(node) > most) {
      largest = node
      length = placement.order.length
      most = size * stay(node)
    }
    if (placement.order.length - before === tree.edgeLength(node))
      for (const child of nextNodes(tree, node, query)) if (visits < mostVisits) visit(child, size)
    placement.undo(before)
  }
  visit(tree.root, 0)
  // of the last edge it may be only a part
  return tree.blocksTo(largest).slice(0, length)
}

/** Places the blocks of an edge as far as they may be; returns their size. */
function placeEdge(tree: PrefixTree, node: PrefixNode, placement: Placement, sizes: readonly number[]): number {
  let size = 0
  for (let i = 0; i < tree.edgeLength(node); i++) {
    const block = tree.blockAt(node, i)
    if (!placement.tryPlace(block)) break
    size += sizes[block]!
  }
  return size
}

/** The children that begin with a block that is left: blocks are few, children may be a hundred thousand. */
function nextNodes(tree: PrefixTree, node: PrefixNode, { blocks, placement }: PrefixQuery): PrefixNode[] {
  if (tree.countChildren(node) === 0) return []
  const only = tree.onlyChild(node)
  if (only >= 0) return placement.has(tree.blockAt(only, 0)) ? [only] : []
  const next: PrefixNode[] = []
  for (const block of blocks) {
    const child = placement.has(block) ? tree.child(node, block) : -1
    if (child >= 0) next.push(child)
  }
  // of few children those that came first go first, however the blocks are ranked
  if (tree.countChildren(node) < blocks.length) next.sort((a, b) => tree.slotOf(a) - tree.slotOf(b))
  return next
}
