/** A look-up reads at most this many holders, rarest block first, so that hot blocks do not make planning quadratic. */
const mostReads = 512

/** If it could not read all holders, it compares about this many blocks of the clusters it found. */
const mostCompared = 8_192

/** Finds the cluster that shares most with a given one, using lists of the clusters with each block. */
export class NearestCluster {
  /** by block: prefill cost */
  readonly #weights: readonly number[]
  readonly #contents: (readonly number[] | undefined)[] = []
  /** by block: the clusters with it; removed clusters are deleted lazily */
  readonly #holders: number[][] = []
  /** by cluster: weight shared so far; all 0 between look-ups */
  readonly #shared: number[] = []
  /** by block: whether the cluster being looked up has it */
  readonly #isOwn: boolean[] = []

  constructor(weights: readonly number[]) {
    this.#weights = weights
  }

  /** Adds a cluster, given by its blocks. Returns its number, counting up from 0. */
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
   * Returns the cluster that shares the most weight with a given one, and that weight; of equals, the oldest. The
   * result is exact unless the blocks have more than 512 holders in total. Then it is the best of those found by the
   * rarest blocks.
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

  /** Credits a block to at most `limit` of its holders, latest first. Returns how many were read. */
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

  /** Recounts, because not all lists were read, the candidates credited with at least half as much as the best one. */
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
