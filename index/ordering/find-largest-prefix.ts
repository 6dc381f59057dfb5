import type { Placement } from './placement.ts'
import type { PrefixNode, PrefixTree } from './prefix-tree.ts'

/** The search ends after this many nodes with the best so far, because hot blocks in many orders must not stall it. */
const mostVisits = 4_096

/** Parameters of the prefix search. */
interface PrefixQuery {
  /** the distinct blocks of the context */
  readonly blocks: readonly number[]
  /** must be empty; restored after the search */
  readonly placement: Placement
  /** by block: prefill cost */
  readonly sizes: readonly number[]
  /** probability that the prefix up to a node stays cached, above 0 and at most 1 */
  readonly stay: (node: PrefixNode) => number
}

/**
 * Finds, of all sent prefixes that can be placed, the one with the highest expected saving: its size × its probability
 * of staying cached. Searches depth first over the nodes whose paths are in the context, at most 4,096; the first of
 * equals wins. Returns its blocks.
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
    // a prefix is worth at most its size, so `stay` is evaluated only if it can matter
    if (size > most && size * stay(node) > most) {
      largest = node
      length = placement.order.length
      most = size * stay(node)
    }
    if (placement.order.length - before === tree.lengths.at(node))
      for (const child of nextNodes(tree, node, query)) if (visits < mostVisits) visit(child, size)
    placement.undo(before)
  }
  visit(tree.root, 0)
  // the prefix may end within the last edge
  return tree.sequenceTo(largest).slice(0, length)
}

/** Places the blocks of an edge until one is not allowed. Returns the size of the placed blocks. */
function placeEdge(tree: PrefixTree, node: PrefixNode, placement: Placement, sizes: readonly number[]): number {
  let size = 0
  for (let i = 0; i < tree.lengths.at(node); i++) {
    const block = tree.blockAt(node, i)
    if (!placement.tryPlace(block)) break
    size += sizes[block]!
  }
  return size
}

/**
 * Returns the children that begin with a remaining block. It iterates over blocks, as there may be 100,000 children.
 */
function nextNodes(tree: PrefixTree, node: PrefixNode, { blocks, placement }: PrefixQuery): PrefixNode[] {
  if (tree.countChildren(node) === 0) return []
  const only = tree.onlyChild(node)
  if (only >= 0) return placement.has(tree.blockAt(only, 0)) ? [only] : []
  const next: PrefixNode[] = []
  for (const block of blocks) {
    const child = placement.has(block) ? tree.child(node, block) : -1
    if (child >= 0) next.push(child)
  }
  // visit few children in order of creation, whatever the ranks of the blocks
  if (next.length > 1 && tree.countChildren(node) < blocks.length)
    next.sort((a, b) => tree.slots.at(a) - tree.slots.at(b))
  return next
}
