import type { BlockId, Context, RequestId } from '#index/context-block.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { averageLinkage, type Merge, pairIndex } from './average-linkage.ts'
import { contextDistance } from './context-distance.ts'
import { ContextIndex, ContextNode } from './context-index.ts'

type CompareBlocks = (a: BlockId, b: BlockId) => number

/** The contexts with the same set of blocks, ordered as in the first of them. */
interface Leaf {
  readonly blocks: Context
  readonly requests: RequestId[]
}

/**
 * Builds the context index over a batch (ContextPilot, Algorithm 4). It computes pairwise distances and clusters them
 * hierarchically with average linkage. Equal contents share a leaf, and every merge gets a virtual node with the sorted
 * intersection. Virtual nodes that add nothing are removed. From the root down, every node's blocks are reordered to
 * begin with its parent's. O(n²) time and space in the number of distinct contents. `compareBlocks` sorts intersections.
 */
export function buildIndex(
  batch: ReadonlyMap<RequestId, Context>,
  compareBlocks: CompareBlocks = byAppearance(batch.values()),
): ContextIndex {
  const leaves = findLeaves(batch)
  const weights = leaves.map(({ requests }) => requests.length)
  const contexts = leaves.map(({ blocks }) => blocks)
  const merges = averageLinkage(weights, pairwiseDistances(contexts))
  const contents = intersect(contexts, merges, compareBlocks)
  return hangTree(leaves, merges, contents)
}

/** Line 2: returns the distances of all pairs as a condensed matrix. */
function pairwiseDistances(contexts: readonly Context[]): Float64Array {
  const distances = new Float64Array((contexts.length * (contexts.length - 1)) / 2)
  for (const [i, context] of contexts.entries())
    for (let j = 0; j < i; j++) distances[pairIndex(i, j)] = contextDistance(context, contexts[j]!)
  return distances
}

/** Phase 2, lines 5–10: contents are sets (line 13 intersects them), so contexts that differ in order share a leaf. */
function findLeaves(batch: ReadonlyMap<RequestId, Context>): Leaf[] {
  const leaves = new Map<string, Leaf>()
  for (const [request, blocks] of batch) {
    const content = JSON.stringify(blocks.toSorted())
    const known = leaves.get(content)
    if (known) known.requests.push(request)
    else leaves.set(content, { blocks, requests: [request] })
  }
  return [...leaves.values()]
}

/** Phase 2, lines 11–15: returns the blocks common to all contexts of each cluster, sorted. Leaves keep their order. */
function intersect(leaves: readonly Context[], merges: readonly Merge[], compareBlocks: CompareBlocks): Context[] {
  const contents = [...leaves]
  for (const { a, b } of merges) {
    const other = new Set(contents[b])
    contents.push([...new Set(contents[a])].filter((block) => other.has(block)).sort(compareBlocks))
  }
  return contents
}

/**
 * Line 16 and phase 3: attaches the clusters below the root, parents before children, each with its parent's blocks
 * first. A virtual node that adds nothing to its parent is left out, and its children are attached to that parent.
 */
function hangTree(leaves: readonly Leaf[], merges: readonly Merge[], contents: readonly Context[]): ContextIndex {
  const root = new ContextNode([])
  const leafOf = new Map<RequestId, ContextNode>()
  // not recursive, because a dendrogram can be as deep as it has leaves
  const left = contents.length > 0 ? [{ cluster: contents.length - 1, parent: root }] : []
  for (let next = left.pop(); next; next = left.pop()) {
    const { cluster, parent } = next
    const content = contents[cluster]!
    const leaf = leaves[cluster]
    const merge = merges[cluster - leaves.length]
    let node = parent
    if (leaf || content.length > parent.blocks.length) {
      const blocks = alignContext(content, parent.blocks).map((place) => content[place]!)
      node = new ContextNode(blocks)
      parent.attach(node)
    }
    for (const request of leaf?.requests ?? []) leafOf.set(request, node)
    if (merge) left.push({ cluster: merge.b, parent: node }, { cluster: merge.a, parent: node })
  }
  return new ContextIndex(root, leafOf)
}

/** Blocks that appear first in the batch come first. */
function byAppearance(contexts: Iterable<Context>): CompareBlocks {
  const numbers = new Map<BlockId, number>()
  for (const context of contexts) {
    for (const block of context) if (!numbers.has(block)) numbers.set(block, numbers.size)
  }
  return (a, b) => numbers.get(a)! - numbers.get(b)!
}
