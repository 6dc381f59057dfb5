import type { LruItem } from './lru-list.ts'
import { PageRun } from './page-run.ts'

/** No engine has so large a vocabulary. */
const unknownToken = 0xffff_ffff

/** A run of pages in an LRU cache, and the answer that may continue it. */
export class TreeNode extends PageRun implements LruItem<TreeNode> {
  /** for a prompt that ended here: its last tokens, short of a page, and the pages of these and its answer */
  answer: { readonly front: Uint32Array; readonly pages: TreeNode } | undefined
  /** the requests whose longest cached prefix ends here */
  requests: number[] = []
  older: TreeNode | undefined
  newer: TreeNode | undefined

  /** Adds a child of tokens that no prompt has. */
  extendUnknown(length: number): TreeNode {
    return this.add(new Uint32Array(length).fill(unknownToken))
  }

  /** The requests of a leaf that is gone move to its parent. */
  override shorten(count: number): boolean {
    this.answer = undefined
    const { parent } = this
    const isGone = super.shorten(count)
    if (isGone && parent!.parent) for (const request of this.requests) parent!.requests.push(request)
    return isGone
  }

  protected override create(parent: TreeNode, tokens: Uint32Array, end: number): this {
    return new TreeNode(parent, tokens, end) as this
  }
}
