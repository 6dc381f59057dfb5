import type { TreeNode } from '../tree-node.ts'
import type { Eviction } from './eviction.ts'

/** Several eviction policies that track the same cache. The leader chooses the victims. */
export class LedEviction implements Eviction {
  readonly runTokens: number
  readonly #followers: readonly Eviction[]
  /** index of the leader */
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
