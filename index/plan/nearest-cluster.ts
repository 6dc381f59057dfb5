/** A look-up reads as many places of its blocks' lists, rarest block first: hot blocks must not make it quadratic. */
const mostReads = 512

/** And so many blocks of those it finds are compared, where not all lists could be read. */
const mostCompared = 8_192

/** Finds which cluster shares most with another, by the lists of who holds which block. */
export class NearestCluster {
  /** what a block costs to prefill */
  readonly #weights: readonly number[]
  readonly #contents: (readonly number[] | undefined)[] = []
  /** by block: the clusters that hold it; those that are gone are taken out when they are met */
  readonly #holders: number[][] = []
  /** by cluster, all 0 between look-ups */
  readonly #shared: number[] = []
  /** by block: whether the cluster that is looked up holds it */
  readonly #isOwn: boolean[] = []

  constructor(weights: readonly number[]) {
    this.#weights = weights
  }

  /** Adds a cluster by its blocks; returns its number, counting up from 0. */
  add(content: readonly number[]): number {
    const cluster = this.#contents.push(content) - 1
    this.#shared.push(0)
    for (const block of content) {
      this.#holders[block] ??= []
      this.#holders[block].push(cluster)
    }
    return cluster
  }

  remove(cluster: number): void {
    this.#contents[cluster] = undefined
  }

  /**
   * The cluster that shares most with a given one, by weight, and how much; of equals the oldest. Exact unless its
   * blocks have more than 512 holders: then the best of those found by its rarest blocks.
   */
  find(cluster: number): { readonly cluster: number; readonly weight: number } | undefined {
    const content = this.#contents[cluster]!
    const candidates: number[] = []
    let unread = 0
    let reads = mostReads
    for (const block of [...content].sort((a, b) => this.#holders[a]!.length - this.#holders[b]!.length || a - b)) {
      const read = this.#read(block, cluster, reads, candidates)
      reads -= read
      if (read < this.#holders[block]!.length) unread += this.#weights[block]!
    }
    const best = unread > 0 ? this.#bestByContent(content, candidates, unread) : this.#best(candidates)
    for (const candidate of candidates) this.#shared[candidate] = 0
    return best
  }

  /** Credits a block to those who hold it, the latest first, to `limit` of them at most; returns how many were read. */
  #read(block: number, cluster: number, limit: number, candidates: number[]): number {
    const holders = this.#holders[block]!
    let reads = 0
    for (let at = holders.length - 1; at >= 0 && reads < limit; at--) {
      const holder = holders[at]!
      if (this.#contents[holder] === undefined) {
        holders[at] = holders[holders.length - 1]!
        holders.pop()
        continue
      }
      reads += 1
      if (holder === cluster) continue
      if (this.#shared[holder] === 0) candidates.push(holder)
      this.#shared[holder]! += this.#weights[block]!
    }
    return reads
  }

  #best(candidates: readonly number[]): { cluster: number; weight: number } | undefined {
    let best: { cluster: number; weight: number } | undefined
    for (const cluster of candidates) {
      const weight = this.#shared[cluster]!
      if (!best || weight > best.weight || (weight === best.weight && cluster < best.cluster))
        best = { cluster, weight }
    }
    return best
  }

  /** As not all lists were read, what a candidate shares is counted anew, if it shares at least half the most so far. */
  #bestByContent(
    content: readonly number[],
    candidates: readonly number[],
    unread: number,
  ): { cluster: number; weight: number } | undefined {
    let best = this.#best(candidates)
    if (!best) return undefined
    const least = best.weight / 2
    for (const block of content) this.#isOwn[block] = true
    best = { cluster: best.cluster, weight: this.#countShared(best.cluster) }
    let compared = 0
    for (const cluster of candidates) {
      if (compared > mostCompared) break
      const shared = this.#shared[cluster]!
      if (shared < least || shared + unread < best.weight) continue
      const weight = this.#countShared(cluster)
      compared += this.#contents[cluster]!.length
      if (weight > best.weight || (weight === best.weight && cluster < best.cluster)) best = { cluster, weight }
    }
    for (const block of content) this.#isOwn[block] = false
    return best
  }

  #countShared(cluster: number): number {
    let weight = 0
    for (const block of this.#contents[cluster]!) if (this.#isOwn[block]) weight += this.#weights[block]!
    return weight
  }
}
