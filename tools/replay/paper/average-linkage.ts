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
 * number of contexts of each item. No merge precedes its parts; otherwise they come in no order of distance. Ties are
 * broken as in SciPy, which ContextPilot uses: the previous element of the chain wins, then the first one found.
 */
export function averageLinkage(weights: readonly number[], distances: Float64Array): Merge[] {
  const pairs = new ClusterPairs(weights, distances)
  const merges: Merge[] = []
  /** of the item that stands for a cluster: the cluster's number, and its lowest item */
  const clusterOf = weights.map((_, item) => item)
  const lowestOf = [...clusterOf]
  const chain: number[] = []
  while (merges.length < weights.length - 1) {
    if (chain.length === 0) chain.push(pairs.first())
    const last = chain.at(-1)!
    const before = chain.at(-2)
    const { nearest, distance } = pairs.nearestTo(last, before)
    if (nearest !== before) {
      chain.push(nearest)
      continue
    }
    chain.length -= 2
    const [first, second] = lowestOf[last]! < lowestOf[nearest]! ? [last, nearest] : [nearest, last]
    merges.push({ a: clusterOf[first]!, b: clusterOf[second]!, distance })
    const kept = pairs.merge(last, nearest)
    lowestOf[kept] = lowestOf[first]!
    clusterOf[kept] = weights.length + merges.length - 1
  }
  return merges
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

  /** Merges two clusters and returns the item that stands for both. The distance to any other is the mean over the contexts. */
  merge(a: number, b: number): number {
    const [gone, kept] = a < b ? [a, b] : [b, a]
    const [x, y] = [this.#weights[gone]!, this.#weights[kept]!]
    this.#weights[gone] = 0
    this.#weights[kept] = x + y
    for (let other = 0; other < this.#weights.length; other++) {
      if (this.#weights[other] === 0 || other === kept) continue
      const at = pairIndex(kept, other)
      this.#distances[at] = (x * this.#distances[pairIndex(gone, other)]! + y * this.#distances[at]!) / (x + y)
    }
    return kept
  }
}

/** Returns the index of the pair i ≠ j in a condensed matrix: the lower triangle, row by row. */
export function pairIndex(i: number, j: number): number {
  return i > j ? (i * (i - 1)) / 2 + j : (j * (j - 1)) / 2 + i
}
