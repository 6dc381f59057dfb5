import { pairIndex } from './pairwise-distances.ts'

/** Two clusters become one: items are 0 … n − 1, the cluster of merge k is n + k; `a` holds the first item of both. */
export interface Merge {
  readonly a: number
  readonly b: number
  readonly distance: number
}

/**
 * Hierarchical clustering with average linkage (ContextPilot, Algorithm 4, line 3) by chains of nearest neighbours
 * (Murtagh 1983; Müllner 2011): O(n²) time, in the place of `distances`, a condensed matrix (pairwise-distances.ts).
 * `weights` says how many contexts each item stands for. Merges come nearest first. Equals are taken as SciPy takes
 * them, which ContextPilot uses: the first found, the last but one of the chain before others.
 */
export function averageLinkage(weights: readonly number[], distances: Float64Array): Merge[] {
  const pairs = new ClusterPairs(weights, distances)
  const found: Merge[] = []
  const chain: number[] = []
  while (found.length < weights.length - 1) {
    if (chain.length === 0) chain.push(pairs.first())
    const last = chain.at(-1)!
    const before = chain.at(-2)
    const { nearest, distance } = pairs.nearestTo(last, before)
    if (nearest !== before) {
      chain.push(nearest)
      continue
    }
    chain.length -= 2
    found.push({ a: last, b: nearest, distance })
    pairs.merge(last, nearest)
  }
  // the order in which chains find merges is not the order of the distances: stable, so that equals stay as found
  return nameClusters(
    found.sort((a, b) => a.distance - b.distance),
    weights.length,
  )
}

/** The clusters that are left, each under the number of its last item, and how far apart they are. */
class ClusterPairs {
  readonly #distances: Float64Array
  /** contexts in the cluster of that number; 0 when it is part of another */
  readonly #weights: Float64Array

  constructor(weights: readonly number[], distances: Float64Array) {
    this.#weights = Float64Array.from(weights)
    this.#distances = distances
  }

  first(): number {
    return this.#weights.findIndex((weight) => weight > 0)
  }

  /** The nearest of the others; of equals `preferred`, or else the first. */
  nearestTo(cluster: number, preferred: number | undefined): { nearest: number; distance: number } {
    let nearest = preferred ?? -1
    let distance = preferred === undefined ? Number.POSITIVE_INFINITY : this.#distances[pairIndex(cluster, preferred)]!
    for (let other = 0; other < this.#weights.length; other++) {
      if (this.#weights[other] === 0 || other === cluster) continue
      const candidate = this.#distances[pairIndex(cluster, other)]!
      if (candidate < distance) {
        nearest = other
        distance = candidate
      }
    }
    return { nearest, distance }
  }

  /** Makes one cluster of two: its distance to any other is the mean over its contexts. */
  merge(a: number, b: number): void {
    const [gone, kept] = a < b ? [a, b] : [b, a]
    const [x, y] = [this.#weights[gone]!, this.#weights[kept]!]
    this.#weights[gone] = 0
    this.#weights[kept] = x + y
    for (let other = 0; other < this.#weights.length; other++) {
      if (this.#weights[other] === 0 || other === kept) continue
      const at = pairIndex(kept, other)
      this.#distances[at] = (x * this.#distances[pairIndex(gone, other)]! + y * this.#distances[at]!) / (x + y)
    }
  }
}

/** Gives clusters their numbers n + k: until here a merge names an item of either cluster. */
function nameClusters(merges: readonly Merge[], n: number): Merge[] {
  const clusterOf = Array.from({ length: n }, (_, item) => item)
  const parent = Array.from({ length: n }, (_, item) => item)
  const firstOf = (item: number): number => {
    let root = item
    while (parent[root] !== root) root = parent[root]!
    // later look-ups are short
    for (let at = item; at !== root; ) [at, parent[at]] = [parent[at]!, root]
    return root
  }
  return merges.map(({ a, b, distance }, k) => {
    const [x, y] = [firstOf(a), firstOf(b)]
    const [first, second] = x < y ? [x, y] : [y, x]
    const merge = { a: clusterOf[first]!, b: clusterOf[second]!, distance }
    parent[second] = first
    clusterOf[first] = n + k
    return merge
  })
}
