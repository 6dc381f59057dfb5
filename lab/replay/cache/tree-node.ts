import { PageRun } from '#index/tree-cache/page-run.ts'

/** A run of pages in a cache with a host tier, and what policies of eviction know of it. */
export class TreeNode extends PageRun {
  /** number of children that are not on the host */
  deviceChildren = 0
  isOnHost = false
  /** hash state (`hashOn`) of everything before it */
  hashState = 0
  /** hash of everything up to the end of its first page (`nameOf`); −1 until computed */
  name = -1
  /** how often requests have used it since it was computed, and the last use */
  uses = 0
  lastUse = 0
  created = 0

  get start(): number {
    return this.end - this.tokens.length
  }

  get isLeaf(): boolean {
    return this.children().next().done === true
  }

  /** Number of nodes below the root on the path to this one, including it. */
  get depth(): number {
    return this.path().length
  }

  protected override create(parent: TreeNode, tokens: Uint32Array, end: number): this {
    return new TreeNode(parent, tokens, end) as this
  }
}
