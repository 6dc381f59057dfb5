import { LeafHeap } from '../leaf-heap.ts'
import type { TreeNode } from '../tree-node.ts'
import type { Eviction } from './eviction.ts'

/** Evicts the leaf with the lowest key; of equals, the least recently used. O(log n). */
export class KeyedEviction implements Eviction {
  protected readonly leaves: LeafHeap<TreeNode> = new LeafHeap()
  protected readonly keyOf: (node: TreeNode) => number

  constructor(keyOf: (node: TreeNode) => number) {
    this.keyOf = keyOf
  }

  use(_node: TreeNode, _isNew: boolean): void {}
  split(_front: TreeNode, _tail: TreeNode): void {}
  evicted(_node: TreeNode): void {}
  passRequest(): void {}

  offer(node: TreeNode): void {
    this.leaves.put(node, this.keyOf(node), node.lastUse)
  }

  withdraw(node: TreeNode): void {
    this.leaves.remove(node)
  }

  victim(): TreeNode | undefined {
    return this.leaves.min
  }
}
