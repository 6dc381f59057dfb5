import { CachedRun, PageTree } from '#index/tree-cache/page-tree.ts'
import type { CacheRequest, CacheSequence, PrefixCache } from './prefix-cache.ts'
import { type CachedRequest, type CacheReport, type PrefixNode, RequestLedger } from './request-ledger.ts'

/** A run of pages, and the requests whose cached prefix ends there. */
class RadixNode extends CachedRun implements PrefixNode {
  holders: Set<string> | undefined
}

/**
 * An engine's prefix cache: a radix tree of token runs in whole pages. SGLang's is one. vLLM finds pages by a chain of
 * hashes, which comes to the same, except that it keeps a page twice that two requests computed at once.
 */
export class RadixCache extends PageTree<RadixNode> implements PrefixCache {
  protected override readonly Run: typeof RadixNode = RadixNode
  readonly #ledger = new RequestLedger()

  open({ requestId, salt, tokens, promptTokens }: CacheRequest): CacheSequence {
    let node: RadixNode | undefined
    /** space reserved for tokens that are not in the tree */
    let held = 0
    const sequence = {
      cachedTokens: 0,
      acquire: (): boolean => {
        const found = this.find(this.rootOf(salt), tokens, promptTokens - 1)
        this.lock(found)
        held = this.pagesOf(tokens.length) - found.end
        if (!this.reserve(held)) {
          this.unlock(found)
          return false
        }
        node = found
        sequence.cachedTokens = found.end
        return true
      },
      computed: (length: number): void => {
        const before = node!
        const { run: after, added } = this.insert(this.rootOf(salt), tokens, length)
        held -= after.end - before.end
        // tokens that another request inserted meanwhile are not kept twice
        this.giveBack(after.end - before.end - added)
        this.lock(after)
        this.unlock(before)
        node = after
        this.#ledger.store(requestId, node)
      },
      release: (length: number): void => {
        if (!node) return
        if (this.wholePages(length) > node.end) sequence.computed(length)
        this.giveBack(held)
        this.unlock(node)
        node = undefined
      },
    }
    return sequence
  }

  match(tokens: Uint32Array, salt: string): number {
    const { node, shared } = this.walk(this.rootOf(salt), tokens, tokens.length)
    return node.end - node.tokens.length + shared
  }

  override clear(): boolean {
    const isCleared = super.clear()
    if (isCleared) this.#ledger.clear()
    return isCleared
  }

  takeReports(): CacheReport[] {
    return this.#ledger.takeReports()
  }

  requests(): CachedRequest[] {
    return this.#ledger.requests()
  }

  protected override onFreed(leaf: RadixNode, isGone: boolean): void {
    if (isGone) this.#ledger.retreat(leaf)
    else this.#ledger.shorten(leaf)
  }
}
