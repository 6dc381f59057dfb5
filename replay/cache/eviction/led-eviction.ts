import type { TreeNode } from '../tree-node.ts'
import type { Eviction } from './eviction.ts'

/** Several evictions that follow one cache, of which one leads: its victims go. */
export class LedEviction implements Eviction {
  readonly runTokens: number
  readonly #followers: readonly Eviction[]
  /** which of them leads */
  leader = 0

  constructor(followers: readonly Eviction[], runTokens: number) {
    this.#followers = followers
    this.runTokens = runTokens
  }

  use(node: TreeNode, isNew: boolean): void {
    for (const follower of this.#followers) follower.use(node, isNew)
  }

  split(front: TreeNode, tail: TreeNode): void {
    for (const follower of this.#followers) follower.split(front, tail)
  }

  offer(node: TreeNode): void {
    for (const follower of this.#followers) follower.offer(node)
  }

  withdraw(node: TreeNode): void {
    for (const follower of this.#followers) follower.withdraw(node)
  }

  victim(): TreeNode | undefined {
    return this.#followers[this.leader]!.victim()
  }

  evicted(node: TreeNode): void {
    for (const follower of this.#followers) follower.evicted(node)
  }

  passRequest(): void {
    for (const follower of this.#followers) follower.passRequest()
  }
}
