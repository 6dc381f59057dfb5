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
  const merges: Merge[] = []
  /** by item that stands for a cluster: its number of contexts (0 once it is part of another), number, and lowest item */
  const sizes = [...weights]
  const clusterOf = weights.map((_, item) => item)
  const lowestOf = [...clusterOf]
  const chain: number[] = []
  while (merges.length < weights.length - 1) {
    if (chain.length === 0) chain.push(sizes.findIndex((size) => size > 0))
    const last = chain.at(-1)!
    const before = chain.at(-2)
    const nearest = nearestTo(last, before, sizes, distances)
    if (nearest !== before) {
      chain.push(nearest)
      continue
    }
    chain.length -= 2
    const [first, second] = lowestOf[last]! < lowestOf[nearest]! ? [last, nearest] : [nearest, last]
    merges.push({ a: clusterOf[first]!, b: clusterOf[second]!, distance: distances[pairIndex(last, nearest)]! })
    const [gone, kept] = last < nearest ? [last, nearest] : [nearest, last]
    join(gone, kept, sizes, distances)
    lowestOf[kept] = lowestOf[first]!
    clusterOf[kept] = weights.length + merges.length - 1
  }
  return merges
}

/** Returns the nearest other cluster; in a tie `preferred`, then the first. */
function nearestTo(
  cluster: number,
  preferred: number | undefined,
  sizes: readonly number[],
  distances: Float64Array,
): number {
  let nearest = preferred ?? -1
  let least = preferred === undefined ? Number.POSITIVE_INFINITY : distances[pairIndex(cluster, preferred)]!
  for (let other = 0; other < sizes.length; other++) {
    if (sizes[other] === 0 || other === cluster) continue
    const distance = distances[pairIndex(cluster, other)]!
    if (distance >= least) continue
    nearest = other
    least = distance
  }
  return nearest
}

/** Makes one cluster of two. The distance to any other is the mean over the contexts. */
function join(gone: number, kept: number, sizes: number[], distances: Float64Array): void {
  const [x, y] = [sizes[gone]!, sizes[kept]!]
  sizes[gone] = 0
  sizes[kept] = x + y
  for (let other = 0; other < sizes.length; other++) {
    if (sizes[other] === 0 || other === kept) continue
    const at = pairIndex(kept, other)
    distances[at] = (x * distances[pairIndex(gone, other)]! + y * distances[at]!) / (x + y)
  }
}

/** Returns the index of the pair i ≠ j in a condensed matrix: the lower triangle, row by row. */
export function pairIndex(i: number, j: number): number {
  return i > j ? (i * (i - 1)) / 2 + j : (j * (j - 1)) / 2 + i
}
