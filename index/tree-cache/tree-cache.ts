import { CachedRun, PageTree } from './page-tree.ts'

/** No prompt has it: no engine has so large a vocabulary. */
const unknownToken = 0xffff_ffff

/** A run of pages, and the answer that may continue it. */
class TreeNode extends CachedRun {
  /** for a prompt that ended here: its last tokens, short of a page, and the pages of these and its answer */
  answer: { readonly front: Uint32Array; readonly pages: TreeNode } | undefined
  /** the requests whose longest cached prefix ends here */
  requests: number[] = []

  /** The requests of a leaf that is gone move to its parent. */
  override shorten(count: number): boolean {
    this.answer = undefined
    const { parent } = this
    const isGone = super.shorten(count)
    if (isGone && parent!.parent) for (const request of this.requests) parent!.requests.push(request)
    return isGone
  }
}

/**
 * A prefix cache that serves one request after the other. It evicts as many pages as necessary from the end of the least
 * recently used path. Request for request, that equals vLLM's paged cache in a twentieth of the time, because no page
 * is hashed (144 M tokens take 1.5 s; a cache of hashed pages takes 38 s). With one-token pages it is a radix cache
 * that frees no more than necessary; SGLang's tree, and the emulator's copy of it, evict whole leaves. Engines refuse a
 * prompt that is larger than their whole cache. Here it runs, and its front stays, because the rest would be evicted
 * first.
 */
export class TreeCache extends PageTree<TreeNode> {
  protected override readonly Run: typeof TreeNode = TreeNode
  #changes = new Map<number, number>()

  /**
   * Runs a request and returns its number of cached tokens. If a prompt is larger than the cache, its front stays
   * cached. If `request` is undefined, its later evictions are not tracked.
   */
  serve(request: number | undefined, salt: string, tokens: Uint32Array): number {
    const heldTokens = Math.min(this.pagesOf(tokens.length), this.capacityTokens)
    // the last token of a prompt is computed even when it is cached
    const found = this.find(this.rootOf(salt), tokens, tokens.length - 1)
    const cachedTokens = this.#withAnswer(found, tokens)
    this.lock(found)
    const reserved = heldTokens - found.end
    this.reserve(reserved)
    const { run: end, added } = this.insert(found, tokens, Math.min(tokens.length, heldTokens))
    this.giveBack(reserved - added)
    this.lock(end)
    this.unlock(found)
    this.unlock(end)
    if (request !== undefined) {
      if (end.end > 0) end.requests.push(request)
      this.#changes.set(request, end.end)
    }
    return cachedTokens
  }

  /**
   * Records that a served prompt got an answer with unknown tokens, whose pages are cached, too. A prompt that continues
   * both will find both.
   */
  answered(salt: string, tokens: Uint32Array, answerTokens: number): void {
    const { node, shared } = this.walk(this.rootOf(salt), tokens, tokens.length)
    if (shared < node.tokens.length || node.end < this.wholePages(tokens.length)) return
    const front = tokens.slice(node.end)
    // an engine does not compute the last token that it generates
    const computed = front.length + answerTokens - 1
    const [taken, reserved] = [this.wholePages(computed), this.pagesOf(computed)]
    if (taken === 0 || node.end + reserved > this.capacityTokens) return
    this.#dropAnswer(node)
    this.lock(node)
    this.reserve(reserved)
    node.answer = { front, pages: this.adopt(node.add(new Uint32Array(taken).fill(unknownToken))) }
    // its last page is freed again, unless it is whole
    this.giveBack(reserved - taken)
    this.unlock(node)
  }

  /** Returns whether a prompt of `promptTokens` tokens can be cached as a whole. */
  holds(promptTokens: number): boolean {
    return this.pagesOf(promptTokens) <= this.capacityTokens
  }

  /** Returns the requests whose longest cached prefix has changed since the last call, with its current length. */
  takeChanges(): ReadonlyMap<number, number> {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  protected override onFreed({ requests, end }: TreeNode): void {
    for (const request of requests) this.#changes.set(request, end)
  }

  /** Returns the cached tokens of a prompt that may continue the answer to the prompt that ends at the node. */
  #withAnswer(node: TreeNode, tokens: Uint32Array): number {
    const { end, answer } = node
    if (!answer?.front.every((token, i) => tokens[end + i] === token)) return end
    const known = Math.max(end, this.wholePages(Math.min(answer.pages.end, tokens.length - 1)))
    // they are the prompt's own from now on
    if (known > end) this.#dropAnswer(node)
    return known
  }

  /** Frees what is left of the pages of an answer. */
  #dropAnswer(node: TreeNode): void {
    const left = (node.answer?.pages.end ?? node.end) - node.end
    if (left > 0) this.free(node.answer!.pages, left)
    node.answer = undefined
  }
}
