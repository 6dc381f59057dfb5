import type { TreeNode } from '../tree-node.ts'

/**
 * Which leaf of a prefix tree goes when there is no room. Inner nodes never go before what is behind them, so only
 * leaves that no running request needs are candidates.
 */
export interface Eviction {
  /** New nodes end at multiples of so many tokens; undefined: they are as long as what is shared. */
  readonly runTokens?: number
  /** A request runs through a node, which it has just computed if it is new. Told of a path from its end to its front. */
  use(node: TreeNode, isNew: boolean): void
  /** A node was cut in two: the front part is new and knows what the tail knew. */
  split(front: TreeNode, tail: TreeNode): void
  /** A node has become a candidate. */
  offer(node: TreeNode): void
  /** A node is none any more. */
  withdraw(node: TreeNode): void
  /** The candidate that goes first; undefined if there is none. */
  victim(): TreeNode | undefined
  /** A node is gone. */
  evicted(node: TreeNode): void
  /** A request has been served. */
  passRequest(): void
}
