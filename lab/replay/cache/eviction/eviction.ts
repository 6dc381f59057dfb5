import type { TreeNode } from '../tree-node.ts'

/**
 * Chooses which leaf of a prefix tree to evict when there is no room. Inner nodes are never evicted before their
 * descendants, so only leaves that no running request needs are candidates.
 */
export interface Eviction {
  /** New nodes end at multiples of this many tokens; undefined: they are as long as possible. */
  readonly runTokens?: number
  /** A request uses a node, and has just computed it if `isNew`. Called for a path from its end to its front. */
  use(node: TreeNode, isNew: boolean): void
  /** A node was split in two. `front` is a new node and inherits the state of `tail`. */
  split(front: TreeNode, tail: TreeNode): void
  /** A node has become a candidate. */
  offer(node: TreeNode): void
  /** A node is no longer a candidate. */
  withdraw(node: TreeNode): void
  /** Returns the candidate to evict first; undefined if there is none. */
  victim(): TreeNode | undefined
  /** A node was evicted. */
  evicted(node: TreeNode): void
  /** A request has been served. */
  passRequest(): void
}
