import type { Context, RequestId } from './context-block.ts'
import { contextDistance, defaultAlpha } from './context-distance.ts'
import { ContextIndex } from './context-index.ts'
import { attach, type ContextNode, createNode } from './context-tree.ts'

interface Cluster {
  readonly blocks: Context
  readonly children: readonly Cluster[]
  readonly requests: readonly RequestId[]
  readonly distance: number
  /** how many different contexts are in it: the weights of average linkage */
  readonly size: number
}

/**
 * Builds the context index over a batch (ContextPilot, Algorithm 4): pairwise distances, hierarchical clustering with
 * average linkage, a virtual node with the sorted intersection for every merge, empty virtual nodes removed, and from
 * the root down every node's blocks reordered to begin with its parent's. O(n³) time and O(n²) space in the number of
 * different contexts: meant for the initial contexts of an online index.
 */
export function buildIndex(batch: ReadonlyMap<RequestId, Context>, alpha: number = defaultAlpha): ContextIndex {
  const root = createNode([])
  const leaves = new Map<RequestId, ContextNode>()
  const hang = (cluster: Cluster, parent: ContextNode): void => {
    if (cluster.blocks.length === 0 && cluster.children.length > 0) {
      for (const child of cluster.children) hang(child, parent)
      return
    }
    const inherited = new Set(parent.blocks)
    const node = createNode(
      [...parent.blocks, ...cluster.blocks.filter((block) => !inherited.has(block))],
      cluster.distance,
    )
    attach(parent, node)
    for (const request of cluster.requests) leaves.set(request, node)
    for (const child of cluster.children) hang(child, node)
  }
  for (const cluster of clusterContexts(leafClusters(batch), alpha)) hang(cluster, root)
  return new ContextIndex({ root, leaves, alpha })
}

/** Phase 2, lines 5–10: one leaf for each different context. */
function leafClusters(batch: ReadonlyMap<RequestId, Context>): Cluster[] {
  const distinct = new Map<string, { blocks: Context; requests: RequestId[] }>()
  for (const [request, blocks] of batch) {
    const key = JSON.stringify(blocks)
    const known = distinct.get(key)
    if (known) known.requests.push(request)
    else distinct.set(key, { blocks, requests: [request] })
  }
  return [...distinct.values()].map((leaf) => ({ ...leaf, children: [], distance: 0, size: 1 }))
}

/** Phase 1: merges the two nearest clusters until one is left, or nothing that is left shares a block. */
function clusterContexts(leaves: readonly Cluster[], alpha: number): Cluster[] {
  const clusters = [...leaves]
  const distances = clusters.map((a) => clusters.map((b) => contextDistance(a.blocks, b.blocks, alpha)))
  for (;;) {
    const nearest = nearestPair(distances)
    if (!nearest || nearest.distance >= 1) return clusters
    const [i, j] = [nearest.i, nearest.j]
    const [a, b] = [clusters[i]!, clusters[j]!]
    const size = a.size + b.size
    const shared = new Set(b.blocks)
    const blocks = a.blocks.filter((block) => shared.has(block)).sort()
    const merged: number[] = distances[i]!.map((d, k) => (d * a.size + distances[j]![k]! * b.size) / size)
    clusters[i] = { blocks, children: [a, b], requests: [], distance: nearest.distance, size }
    distances[i] = merged
    distances.forEach((row, k) => {
      row[i] = merged[k]!
    })
    clusters.splice(j, 1)
    distances.splice(j, 1)
    for (const row of distances) row.splice(j, 1)
  }
}

/** The first pair at the least distance. */
function nearestPair(
  distances: readonly (readonly number[])[],
): { i: number; j: number; distance: number } | undefined {
  let nearest: { i: number; j: number; distance: number } | undefined
  for (let i = 0; i < distances.length; i++) {
    for (let j = i + 1; j < distances.length; j++) {
      const distance = distances[i]![j]!
      if (!nearest || distance < nearest.distance) nearest = { i, j, distance }
    }
  }
  return nearest
}
