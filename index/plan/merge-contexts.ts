import { IndexedHeap } from '../indexed-heap.ts'
import { NearestCluster } from './nearest-cluster.ts'

/** A set of contexts, and the blocks common to all of them. */
export interface ContextCluster {
  /** blocks by number; for a merged cluster, in the order of its first context */
  readonly content: readonly number[]
  /** the two merged clusters; undefined for a single context */
  readonly parts: readonly [ContextCluster, ContextCluster] | undefined
  readonly context: number
}

/** A cluster, and the one that shares most with it. */
interface Pair {
  readonly cluster: number
  readonly nearest: number
  readonly weight: number
}

/**
 * Merges contexts, always the two clusters that share most, until no two share anything. `weights[b]` is the prefill
 * cost of block b. Returns the remaining clusters.
 *
 * If the batch runs along the tree of merges, it saves the sum, over all merges, of what the two clusters shared.
 * Merging never increases what a cluster shares with others. So the nearest cluster stays the nearest until it is
 * merged itself, and is looked up again only then: about 3 n look-ups for n contexts.
 */
export function mergeContexts(contexts: readonly (readonly number[])[], weights: readonly number[]): ContextCluster[] {
  const clusters: (ContextCluster | undefined)[] = []
  const nearest = new NearestCluster(weights)
  const pairs = new IndexedHeap<Pair>((a, b) => a.weight > b.weight || (a.weight === b.weight && a.cluster < b.cluster))
  const add = (cluster: ContextCluster): number => {
    const number = nearest.add(cluster.content)
    clusters[number] = cluster
    return number
  }
  const lookUp = (number: number): void => {
    const found = nearest.find(number)
    if (found) pairs.add({ cluster: number, nearest: found.cluster, weight: found.weight })
  }
  contexts.forEach((content, context) => {
    add({ content, parts: undefined, context })
  })
  for (let number = 0; number < contexts.length; number++) lookUp(number)
  for (let pair = pairs.first; pair; pair = pairs.first) {
    pairs.remove(pair)
    const [cluster, other] = [clusters[pair.cluster], clusters[pair.nearest]]
    if (!cluster) continue
    if (!other) {
      lookUp(pair.cluster)
      continue
    }
    for (const merged of [pair.cluster, pair.nearest]) {
      clusters[merged] = undefined
      nearest.remove(merged)
    }
    lookUp(add(merge(cluster, other)))
  }
  return clusters.filter((cluster) => cluster !== undefined)
}

function merge(a: ContextCluster, b: ContextCluster): ContextCluster {
  const [first, second] = a.context < b.context ? [a, b] : [b, a]
  const shared = new Set(second.content)
  const content = first.content.filter((block) => shared.has(block))
  return { content, parts: [first, second], context: first.context }
}
