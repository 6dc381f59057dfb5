import { evictionPriority, parseFormula } from '../hotness-formula.ts'
import type { NodeHotness } from '../node-hotness.ts'
import type { TreeNode } from '../tree-node.ts'
import { KeyedEviction } from './keyed-eviction.ts'

/**
 * Algorithm 1 of HotPrefix: evicts the leaf with the lowest priority (Equation 5, or as configured). Keys are
 * recomputed only when all clocks fall, not at evictions, so an eviction takes O(log n).
 */
export class HotPrefixEviction extends KeyedEviction {
  readonly #hotness: NodeHotness
  #age = 0

  constructor(hotness: NodeHotness, priority: string = evictionPriority) {
    const formula = parseFormula(priority)
    super((node) => hotness.evaluate(formula, node))
    this.#hotness = hotness
  }

  override use(node: TreeNode): void {
    this.#hotness.use(node)
  }

  override split(front: TreeNode, tail: TreeNode): void {
    this.#hotness.split(front, tail)
    // its priority changes because it has become shorter
    if (this.leaves.has(tail)) this.offer(tail)
  }

  override passRequest(): void {
    this.#hotness.passRequest()
    if (this.#hotness.age === this.#age) return
    this.#age = this.#hotness.age
    this.leaves.rekey(this.keyOf)
  }
}
