import type { LruItem } from '#index/tree-cache/lru-list.ts'
import { PageRun } from '#index/tree-cache/page-run.ts'
import type { PrefixNode } from './request-ledger.ts'

/** A run of whole pages in SGLang's radix tree. */
export class RadixNode extends PageRun implements PrefixNode, LruItem<RadixNode> {
  /** of a root: that of its branch */
  readonly salt: string
  /** Running requests that use this node or a descendant; SGLang's `lock_ref`. */
  locks = 0
  holders: Set<string> | undefined
  older: RadixNode | undefined
  newer: RadixNode | undefined

  constructor(parent: RadixNode | undefined, tokens: Uint32Array, end: number, salt = '') {
    super(parent, tokens, end)
    this.salt = salt
  }

  /** The new front node copies the locks; the holders stay at the end. */
  override split(shared: number): this {
    const front = super.split(shared)
    front.locks = this.locks
    return front
  }

  protected override create(parent: RadixNode, tokens: Uint32Array, end: number): this {
    return new RadixNode(parent, tokens, end) as this
  }
}
