import { HotnessFilter, type HotnessFilterOptions, type HotnessRecord } from '../../hotness/hotness-filter.ts'
import { admissionHotness, type HotnessFormula, parseFormula } from './hotness-formula.ts'
import { nameOf } from './node-name.ts'
import type { TreeNode } from './tree-node.ts'

/**
 * How hot the nodes of a prefix tree are, by name, in a filter that remembers evicted nodes too.
 */
export class NodeHotness {
  readonly #filter: HotnessFilter
  readonly #pageTokens: number
  readonly #hotness: HotnessFormula
  /** increases by one whenever all clocks fall */
  age = 0

  constructor(pageTokens: number, options: HotnessFilterOptions = {}, hotness: string = admissionHotness) {
    this.#pageTokens = pageTokens
    this.#filter = new HotnessFilter({ capacity: 1 << 16, requestsPerAge: 16, ...options })
    this.#hotness = parseFormula(hotness)
  }

  use(node: TreeNode): void {
    this.#filter.note(nameOf(node, this.#pageTokens), node.depth)
  }

  /** The front keeps the record of the whole node. The tail gets a copy, but only the uses since it was computed. */
  split(front: TreeNode, tail: TreeNode): void {
    const record = this.recordOf(front)
    if (record)
      this.#filter.adopt(nameOf(tail, this.#pageTokens), { ...record, frequency: tail.uses, depth: tail.depth })
  }

  passRequest(): void {
    if (this.#filter.passRequest()) this.age += 1
  }

  /** Returns the record of a node; undefined if it was never used. */
  recordOf(node: TreeNode): HotnessRecord | undefined {
    return this.#filter.recordOf(nameOf(node, this.#pageTokens))
  }

  /** Returns how many requests ago a clock was reset: at least `least`, less than `most`. For 0, `most` is a guess. */
  agesOf(clock: number): readonly [least: number, most: number] {
    const { maxAge, requestsPerAge } = this.#filter
    const least = Math.max(0, maxAge - clock - 1) * requestsPerAge
    return [least, clock === 0 ? 2 * least + 1 : least + 2 * requestsPerAge]
  }

  frequencyOf(node: TreeNode): number {
    return this.#filter.frequencyOf(nameOf(node, this.#pageTokens))
  }

  /** Returns the hotness of a node by Equation 6, or as configured. */
  hotnessOf(node: TreeNode): number {
    return this.evaluate(this.#hotness, node)
  }

  evaluate(formula: HotnessFormula, node: TreeNode): number {
    const record = this.#filter.recordOf(nameOf(node, this.#pageTokens))
    return formula({ clock: record?.clock ?? 0, frequency: record?.frequency ?? 0, length: node.tokens.length })
  }
}
