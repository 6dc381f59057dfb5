import type { Placement } from './placement.ts'
import { type PrefixNode, pathTo } from './prefix-tree.ts'

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
export function findLargestPrefix(root: PrefixNode, query: PrefixQuery): readonly number[] {
  const { placement, sizes, stay } = query
  let largest = root
  let length = 0
  let most = 0
  let visits = 0
  const visit = (node: PrefixNode, sizeBefore: number): void => {
    visits += 1
    const { edge } = node
    const before = placement.order.length
    const size = sizeBefore + placeEdge(edge, placement, sizes)
    // a prefix is worth its size at most: how likely it is to stay is asked only where that can decide
    if (size > most && size * stay(node) > most) {
      largest = node
      length = placement.order.length
      most = size * stay(node)
    }
    if (placement.order.length - before === edge.length)
      for (const child of nextNodes(node, query)) if (visits < mostVisits) visit(child, size)
    placement.undo(before)
  }
  visit(root, 0)
  const blocks = pathTo(largest).flatMap(({ edge }) => edge)
  // of the last edge it may be only a part
  return blocks.slice(0, length)
}

/** Places the blocks of an edge as far as they may be; returns their size. */
function placeEdge(edge: readonly number[], placement: Placement, sizes: readonly number[]): number {
  let size = 0
  for (const block of edge) {
    if (!placement.tryPlace(block)) break
    size += sizes[block]!
  }
  return size
}

/** The children that begin with a block that is left; the smaller side is asked, as each may be a hundred thousand. */
function nextNodes({ children }: PrefixNode, { blocks, placement }: PrefixQuery): PrefixNode[] {
  const next: PrefixNode[] = []
  if (!children) return next
  if (children.size < blocks.length) {
    for (const [block, child] of children) if (placement.has(block)) next.push(child)
    return next
  }
  for (const block of blocks) {
    const child = placement.has(block) ? children.get(block) : undefined
    if (child) next.push(child)
  }
  return next
}
