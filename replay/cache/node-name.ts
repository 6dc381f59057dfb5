import { finishHash, hashOn } from '#index/hotness/murmur-hash.ts'
import type { TreeNode } from './tree-node.ts'

/**
 * A node's name beyond its life: MurmurHash3 of all tokens up to the end of its first page (Equation 2 of HotPrefix hashes
 * all up to its own end). So it stays when the node is cut shorter, and its front keeps it when it is split.
 */
export function nameOf(node: TreeNode, pageTokens: number): number {
  if (node.name < 0) {
    const page = Math.min(pageTokens, node.tokens.length)
    node.name = finishHash(hashOn(node.hashState, node.tokens, 0, page), node.start + page)
  }
  return node.name
}
