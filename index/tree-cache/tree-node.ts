import type { LruItem } from './lru-list.ts'
import { PageRun } from './page-run.ts'

/** No engine has so large a vocabulary. */
const unknownToken = 0xffff_ffff

/** A run of pages in an LRU cache, and the answer that may continue it. */
export class TreeNode extends PageRun implements LruItem<TreeNode> {
  /** for a prompt that ended here: its last tokens, short of a page, and the pages of these and its answer */
  answer: { readonly front: Uint32Array; readonly pages: TreeNode } | undefined
  older: TreeNode | undefined
  newer: TreeNode | undefined

  /** Adds a child of tokens that no prompt has. */
  extendUnknown(length: number): TreeNode {
    return this.add(new Uint32Array(length).fill(unknownToken))
  }

  override shorten(count: number): void {
    this.answer = undefined
    super.shorten(count)
  }

  protected override create(parent: TreeNode, tokens: Uint32Array, end: number): this {
    return new TreeNode(parent, tokens, end) as this
  }
}
