import { finishHash, hashOn } from '../../hotness/murmur-hash.ts'
import type { TreeNode } from './tree-node.ts'

/**
 * Returns a name that identifies a node even after its eviction: the MurmurHash3 of all tokens up to the end of its
 * first page. (Equation 2 of HotPrefix hashes up to the end of the node.) So the name stays the same when the node is
 * shortened, and the front keeps it when the node is split.
 */
export function nameOf(node: TreeNode, pageTokens: number): number {
  if (node.name < 0) {
    const page = Math.min(pageTokens, node.tokens.length)
    node.name = finishHash(hashOn(node.hashState, node.tokens, 0, page), node.start + page)
  }
  return node.name
}
