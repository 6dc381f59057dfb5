/**
 * A merge of two clusters. Items are 0 … n − 1; merge k creates cluster n + k. `a` contains the lowest item of both.
 */
export interface Merge {
  readonly a: number
  readonly b: number
  readonly distance: number
}

/**
 * Hierarchical clustering with average linkage (ContextPilot, Algorithm 4, line 3) by nearest-neighbour chains (Murtagh
 * 1983; Müllner 2011). O(n²) time. Overwrites `distances`, a condensed matrix (`pairIndex`). `weights` is the
 * number of contexts of each item. Merges are returned nearest first. Ties are broken as in SciPy, which ContextPilot
 * uses: the previous element of the chain wins, then the first one found.
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
  // chains do not find merges in order of distance; the sort is stable, so that equals keep their order
  return nameClusters(
    found.sort((a, b) => a.distance - b.distance),
    weights.length,
  )
}

/** The remaining clusters, each identified by its last item, and their distances. */
class ClusterPairs {
  readonly #distances: Float64Array
  /** number of contexts in the cluster; 0 if it is part of another */
  readonly #weights: Float64Array

  constructor(weights: readonly number[], distances: Float64Array) {
    this.#weights = Float64Array.from(weights)
    this.#distances = distances
  }

  first(): number {
    return this.#weights.findIndex((weight) => weight > 0)
  }

  /** Returns the nearest other cluster; in a tie `preferred`, then the first. */
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

  /** Merges two clusters. The distance to any other cluster is the mean over the contexts. */
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

/** Numbers the clusters n + k. The given merges name one item of each cluster instead. */
function nameClusters(merges: readonly Merge[], n: number): Merge[] {
  const clusterOf = Array.from({ length: n }, (_, item) => item)
  const parent = Array.from({ length: n }, (_, item) => item)
  const firstOf = (item: number): number => {
    let root = item
    while (parent[root] !== root) root = parent[root]!
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

/** Returns the index of the pair i ≠ j in a condensed matrix: the lower triangle, row by row. */
export function pairIndex(i: number, j: number): number {
  return i > j ? (i * (i - 1)) / 2 + j : (j * (j - 1)) / 2 + i
}
