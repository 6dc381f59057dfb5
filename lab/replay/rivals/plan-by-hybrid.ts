import { alignContext } from '#index/plan/align-context.ts'
import type { PlannedRequest } from '#tools/replay/policies/policy.ts'
import type { ReplayRequest } from '#tools/replay/replay-request.ts'
import { BlockNode, regraft } from './block-tree.ts'
import { planByGreedy } from './plan-by-greedy.ts'

const mostPasses = 20

/**
 * The greedy partition with local improvement, for comparison: moves every request, and every subtree as a whole, to
 * where it shares most, until a pass saves nothing more, for at most 20 passes. O(n²) per pass.
 */
export function planByHybrid(requests: readonly ReplayRequest[]): PlannedRequest[] {
  const sizes = new Map(requests.flatMap(({ context, sizes }) => context.map((block, i) => [block, sizes[i]!])))
  const root = new BlockNode([])
  const leaves = hangAll(root, planByGreedy(requests))
  let before = root.sizeBelow(sizes)
  for (let pass = 0; pass < mostPasses; pass++) {
    for (const leaf of leaves) regraft(root, leaf, sizes)
    for (const node of innerNodes(root)) if (isBelow(node, root)) regraft(root, node, sizes)
    const size = root.sizeBelow(sizes)
    if (size >= before) break
    before = size
  }
  return runDepthFirst(root, new Map(requests.map((request) => [request.number, request])))
}

/** Builds the tree of a plan, with a node for every shared prefix and a leaf for every request. Returns the leaves. */
function hangAll(root: BlockNode, planned: readonly PlannedRequest[]): BlockNode[] {
  const nodes = new Map<string, BlockNode>([['', root]])
  return planned.map(({ request, order, searchPath }) => {
    const content = order.map((place) => request.context[place]!)
    let node = root
    for (let level = 1; level <= searchPath.length; level++) {
      const key = String(searchPath.slice(0, level))
      // the greedy partition adds one block at each level
      const next = nodes.get(key) ?? new BlockNode([content[level - 1]!])
      if (!next.parent) node.adopt(next)
      nodes.set(key, next)
      node = next
    }
    const leaf = new BlockNode(content.slice(searchPath.length), request.number)
    node.adopt(leaf)
    return leaf
  })
}

function innerNodes(root: BlockNode): BlockNode[] {
  const below = [...root.children].flatMap(innerNodes)
  return root.request === undefined && root.parent ? [root, ...below] : below
}

function isBelow(node: BlockNode, root: BlockNode): boolean {
  return node === root || (node.parent !== undefined && isBelow(node.parent, root))
}

function runDepthFirst(root: BlockNode, requests: ReadonlyMap<number, ReplayRequest>): PlannedRequest[] {
  const planned: PlannedRequest[] = []
  const visit = (node: BlockNode, group: number, searchPath: readonly number[]): void => {
    const request = node.request === undefined ? undefined : requests.get(node.request)!
    if (request) planned.push({ request, order: alignContext(request.context, node.path()), group, searchPath })
    let slot = 0
    for (const child of node.children) {
      visit(child, node === root ? slot : group, [...searchPath, slot])
      slot += 1
    }
  }
  visit(root, 0, [])
  return planned
}
