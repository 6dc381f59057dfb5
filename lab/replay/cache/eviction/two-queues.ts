import { LeafHeap } from '../leaf-heap.ts'
import { nameOf } from '../node-name.ts'
import type { TreeNode } from '../tree-node.ts'
import type { Eviction } from './eviction.ts'
import { Ghosts } from './ghosts.ts'

/** Leaves in two queues, one of which takes new leaves. */
abstract class TwoQueues implements Eviction {
  protected readonly young: LeafHeap<TreeNode> = new LeafHeap()
  protected readonly old: LeafHeap<TreeNode> = new LeafHeap()
  protected readonly proven: Set<TreeNode> = new Set()
  protected readonly ghosts: Ghosts
  readonly #pageTokens: number
  readonly #youngTokens: number
  #tokens = 0

  /**
   * Above `youngTokens`, young leaves are evicted first. `ghostTokens` of evicted young leaves are remembered by name.
   */
  constructor(pageTokens: number, youngTokens: number, ghostTokens: number) {
    this.#pageTokens = pageTokens
    this.#youngTokens = youngTokens
    this.ghosts = new Ghosts(ghostTokens)
  }

  use(node: TreeNode, isNew: boolean): void {
    if (isNew) this.#enter(node)
    else this.reuse(node)
  }

  split(front: TreeNode, tail: TreeNode): void {
    if (this.proven.has(tail)) this.proven.add(front)
  }

  offer(node: TreeNode): void {
    if (this.proven.has(node)) this.old.put(node, this.keyOfOld(node), node.lastUse)
    else this.young.put(node, node.created, 0)
  }

  withdraw(node: TreeNode): void {
    this.young.remove(node)
    this.old.remove(node)
  }

  evicted(node: TreeNode): void {
    if (this.proven.delete(node)) return
    this.#tokens -= node.tokens.length
    this.ghosts.add(nameOf(node, this.#pageTokens), node.tokens.length)
  }

  passRequest(): void {}

  abstract victim(): TreeNode | undefined
  /** A cached node is requested again. */
  protected abstract reuse(node: TreeNode): void
  protected abstract keyOfOld(node: TreeNode): number

  protected get isYoungFull(): boolean {
    return this.#tokens > this.#youngTokens
  }

  /** Makes a node count as old from now on. */
  protected prove(node: TreeNode): void {
    if (this.proven.has(node)) return
    this.proven.add(node)
    this.#tokens -= node.tokens.length
  }

  #enter(node: TreeNode): void {
    if (this.ghosts.take(nameOf(node, this.#pageTokens))) this.proven.add(node)
    else this.#tokens += node.tokens.length
  }
}

/**
 * 2Q (Johnson and Shasha 1994): new leaves are evicted FIFO. One requested again after its eviction is old from then
 * on.
 */
export class TwoQEviction extends TwoQueues {
  constructor(capacityTokens: number, pageTokens: number) {
    super(pageTokens, capacityTokens / 4, capacityTokens / 2)
  }

  victim(): TreeNode | undefined {
    return this.isYoungFull ? (this.young.min ?? this.old.min) : (this.old.min ?? this.young.min)
  }

  protected reuse(): void {}

  protected keyOfOld(node: TreeNode): number {
    return node.lastUse
  }
}

/**
 * S3-FIFO (Yang et al. 2023): new leaves enter a small queue with a tenth of the capacity. Those requested again move
 * to the main queue. There, a leaf gets another round for each further request, at most three.
 */
export class S3FifoEviction extends TwoQueues {
  readonly #chances = new Map<TreeNode, number>()
  readonly #entered = new Map<TreeNode, number>()
  #time = 0

  constructor(capacityTokens: number, pageTokens: number) {
    super(pageTokens, capacityTokens / 10, capacityTokens)
  }

  victim(): TreeNode | undefined {
    for (;;) {
      const isYoung = this.young.size > 0 && (this.isYoungFull || this.old.size === 0)
      const leaf = isYoung ? this.young.min : this.old.min
      const chances = leaf ? (this.#chances.get(leaf) ?? 0) : 0
      if (!leaf || chances === 0) return leaf
      this.withdraw(leaf)
      if (isYoung) this.prove(leaf)
      this.#chances.set(leaf, isYoung ? 0 : chances - 1)
      this.#queue(leaf)
    }
  }

  override evicted(node: TreeNode): void {
    super.evicted(node)
    this.#chances.delete(node)
    this.#entered.delete(node)
  }

  override split(front: TreeNode, tail: TreeNode): void {
    super.split(front, tail)
    this.#chances.set(front, this.#chances.get(tail) ?? 0)
    this.#entered.set(front, this.#entered.get(tail) ?? 0)
  }

  protected reuse(node: TreeNode): void {
    this.#chances.set(node, Math.min(3, (this.#chances.get(node) ?? 0) + 1))
  }

  protected keyOfOld(node: TreeNode): number {
    return this.#entered.get(node) ?? node.created
  }

  #queue(node: TreeNode): void {
    this.#time += 1
    // after everything computed so far
    this.#entered.set(node, node.lastUse + this.#time)
    this.offer(node)
  }
}
