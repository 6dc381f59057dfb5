import { NearestCluster } from './nearest-cluster.ts'

/** A set of contexts, and the blocks common to all of them. */
export interface ContextCluster {
  /** blocks by number; for a merged cluster, in the order of its first context */
  readonly content: readonly number[]
  /** the two merged clusters; undefined for a single context */
  readonly parts: readonly [ContextCluster, ContextCluster] | undefined
  readonly context: number
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
  const heap = new MaxHeap()
  const partner: number[] = []
  const add = (cluster: ContextCluster): number => {
    const number = nearest.add(cluster.content)
    clusters[number] = cluster
    return number
  }
  const lookUp = (number: number): void => {
    const found = nearest.find(number)
    if (!found) return
    partner[number] = found.cluster
    heap.push(number, found.weight)
  }
  contexts.forEach((content, context) => {
    add({ content, parts: undefined, context })
  })
  for (let number = 0; number < contexts.length; number++) lookUp(number)
  for (let number = heap.pop(); number !== undefined; number = heap.pop()) {
    const cluster = clusters[number]
    if (!cluster) continue
    const other = clusters[partner[number]!]
    if (!other) {
      lookUp(number)
      continue
    }
    clusters[number] = undefined
    clusters[partner[number]!] = undefined
    nearest.remove(number)
    nearest.remove(partner[number]!)
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

/** A binary heap of integers by weight, heaviest first; of equal weights, the smallest integer first. */
export class MaxHeap {
  readonly #items: number[] = []
  readonly #weights: number[] = []

  get size(): number {
    return this.#items.length
  }

  push(item: number, weight: number): void {
    let at = this.#items.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(item, weight, parent)) break
      this.#items[at] = this.#items[parent]!
      this.#weights[at] = this.#weights[parent]!
      at = parent
    }
    this.#items[at] = item
    this.#weights[at] = weight
  }

  pop(): number | undefined {
    const top = this.#items[0]
    const item = this.#items.pop()
    const weight = this.#weights.pop()
    if (this.#items.length === 0 || item === undefined || weight === undefined) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#items.length) break
      const right = child + 1
      if (right < this.#items.length && this.#isBefore(this.#items[right]!, this.#weights[right]!, child)) child = right
      if (this.#isBefore(item, weight, child)) break
      this.#items[at] = this.#items[child]!
      this.#weights[at] = this.#weights[child]!
      at = child
    }
    this.#items[at] = item
    this.#weights[at] = weight
    return top
  }

  #isBefore(item: number, weight: number, at: number): boolean {
    return weight > this.#weights[at]! || (weight === this.#weights[at]! && item < this.#items[at]!)
  }
}
