import type { NodeHotness } from '../node-hotness.ts'
import type { TreeNode } from '../tree-node.ts'
import { KeyedEviction } from './keyed-eviction.ts'
import { ReuseStatistics } from './reuse-statistics.ts'

const requestsPerSettling = 16

/**
 * HotPrefix with Equation 5 replaced: evicts the leaf with the lowest value, which is learned by frequency and age
 * (`ReuseStatistics`). Runs end at multiples of 64 tokens, so that a recomputed run has the same name as before,
 * wherever it was cut. Otherwise the filter would take it for new, and junk after it for hot. Reasons:
 * docs/benchmarks.md.
 */
export class HotPrefixPlusEviction extends KeyedEviction {
  readonly runTokens: number = 64
  readonly #hotness: NodeHotness
  readonly #statistics: ReuseStatistics
  /** time of a node's last use, in requests */
  readonly #usedAt = new WeakMap<TreeNode, number>()
  readonly #now: { requests: number }

  constructor(hotness: NodeHotness) {
    const statistics = new ReuseStatistics()
    const usedAt = new WeakMap<TreeNode, number>()
    const now = { requests: 0 }
    super((node) => statistics.valueOf(hotness.frequencyOf(node), now.requests - (usedAt.get(node) ?? 0)))
    this.#hotness = hotness
    this.#statistics = statistics
    this.#usedAt = usedAt
    this.#now = now
  }

  override use(node: TreeNode, isNew: boolean): void {
    const { requests } = this.#now
    const tokens = node.tokens.length
    const known = this.#hotness.recordOf(node)
    if (known) {
      const age = requests - (this.#usedAt.get(node) ?? 0)
      // for an evicted node only the clock is known
      const [least, most] = isNew ? this.#hotness.agesOf(known.clock) : [age, age + 1]
      this.#statistics.reused(known.frequency, least, most, tokens)
    }
    this.#hotness.use(node)
    this.#statistics.used((known?.frequency ?? 0) + 1, tokens)
    this.#usedAt.set(node, requests)
  }

  override split(front: TreeNode, tail: TreeNode): void {
    this.#hotness.split(front, tail)
    this.#usedAt.set(front, this.#usedAt.get(tail) ?? 0)
  }

  override passRequest(): void {
    this.#hotness.passRequest()
    this.#statistics.passRequest()
    this.#now.requests += 1
    if (this.#now.requests % requestsPerSettling !== 0) return
    this.#statistics.settle()
    this.leaves.rekey(this.keyOf)
  }
}
