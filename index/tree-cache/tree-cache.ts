import { type LruItem, LruList } from './lru-list.ts'
import { PageRun } from './page-run.ts'

/** No engine has so large a vocabulary. */
const unknownToken = 0xffff_ffff

/** A run of pages in an LRU cache, and the answer that may continue it. */
class TreeNode extends PageRun implements LruItem<TreeNode> {
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

/**
 * A prefix cache as a radix tree of runs of whole pages. It evicts as many pages as necessary from the end of the least
 * recently used path. Request for request, that equals vLLM's paged cache in a twentieth of the time, because no page
 * is hashed (144 M tokens take 1.5 s; a cache of hashed pages takes 38 s). With one-token pages it is a radix cache
 * that frees no more than necessary; SGLang's tree, and the emulator's copy of it, evict whole leaves. Engines refuse a
 * prompt that is larger than their whole cache. Here it runs, and its front stays, because the rest would be evicted
 * first.
 */
export class TreeCache {
  readonly #capacityTokens: number
  readonly #pageTokens: number
  readonly #roots = new Map<string, TreeNode>()
  /** A path is appended from its end, so the oldest node is always a leaf. */
  readonly #idle = new LruList<TreeNode>()
  #changes = new Map<number, number>()
  #usedTokens = 0

  constructor(capacityTokens: number, pageTokens: number) {
    this.#pageTokens = pageTokens
    this.#capacityTokens = this.#wholePages(capacityTokens)
  }

  /**
   * Runs a request and returns its number of cached tokens. If a prompt is larger than the cache, its front stays
   * cached. If `request` is undefined, its later evictions are not tracked.
   */
  serve(request: number | undefined, salt: string, tokens: Uint32Array): number {
    const heldTokens = Math.min(this.#pagesOf(tokens.length), this.#capacityTokens)
    // the last token of a prompt is computed even when it is cached
    const found = this.#find(this.#rootOf(salt), tokens, tokens.length - 1)
    const cachedTokens = this.#withAnswer(found, tokens)
    for (const node of found.path()) this.#idle.remove(node)
    this.#makeRoom(heldTokens - found.end)
    const end = this.#add(found, tokens, this.#wholePages(Math.min(tokens.length, heldTokens)))
    for (const node of end.path()) this.#idle.append(node)
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
    const { node, shared } = this.#rootOf(salt).walk(tokens, this.#wholePages(tokens.length), this.#pageTokens)
    if (shared < node.tokens.length || node.end < this.#wholePages(tokens.length)) return
    const front = tokens.slice(node.end)
    // an engine does not compute the last token that it generates
    const computed = front.length + answerTokens - 1
    const taken = this.#wholePages(computed)
    if (taken === 0 || node.end + this.#pagesOf(computed) > this.#capacityTokens) return
    this.#dropAnswer(node)
    const path = node.path()
    for (const own of path) this.#idle.remove(own)
    // its last page is freed again, unless it is whole
    this.#makeRoom(this.#pagesOf(computed))
    const pages = node.extendUnknown(taken)
    this.#usedTokens += taken
    node.answer = { front, pages }
    for (const own of [pages, ...path]) this.#idle.append(own)
  }

  /** Returns the cached tokens of a prompt that may continue the answer to the prompt that ends at the node. */
  #withAnswer(node: TreeNode, tokens: Uint32Array): number {
    const { end, answer } = node
    if (!answer?.front.every((token, i) => tokens[end + i] === token)) return end
    const known = Math.max(end, this.#wholePages(Math.min(answer.pages.end, tokens.length - 1)))
    // they are the prompt's own from now on
    if (known > end) this.#dropAnswer(node)
    return known
  }

  /** Frees what is left of the pages of an answer. */
  #dropAnswer(node: TreeNode): void {
    const left = (node.answer?.pages.end ?? node.end) - node.end
    if (left > 0) {
      this.#usedTokens -= left
      this.#idle.remove(node.answer!.pages)
      node.answer!.pages.shorten(left)
    }
    node.answer = undefined
  }

  /** Returns whether a prompt of `promptTokens` tokens can be cached as a whole. */
  holds(promptTokens: number): boolean {
    return this.#pagesOf(promptTokens) <= this.#capacityTokens
  }

  /** Returns the requests whose longest cached prefix has changed since the last call, with its current length. */
  takeChanges(): ReadonlyMap<number, number> {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  #rootOf(salt: string): TreeNode {
    const root = this.#roots.get(salt) ?? new TreeNode(undefined, new Uint32Array(0), 0)
    this.#roots.set(salt, root)
    return root
  }

  /**
   * Finds the longest cached part of the first `limit` tokens, starting at `from`. Returns the node that ends there.
   */
  #find(from: TreeNode, tokens: Uint32Array, limit: number): TreeNode {
    const { node, shared } = from.walk(tokens, this.#wholePages(limit), this.#pageTokens)
    if (shared === node.tokens.length) return node
    const front = node.split(shared)
    this.#idle.append(front)
    return front
  }

  #makeRoom(tokens: number): void {
    for (;;) {
      const missing = this.#usedTokens + tokens - this.#capacityTokens
      if (missing <= 0) return
      const oldest = this.#idle.oldest!
      const freed = Math.min(missing, oldest.tokens.length)
      this.#usedTokens -= freed
      if (freed === oldest.tokens.length) this.#idle.remove(oldest)
      oldest.shorten(freed)
      for (const request of oldest.requests) this.#changes.set(request, oldest.end)
    }
  }

  /** Adds what is not cached yet after `found`, up to `end`. It may be nothing if the whole prompt was cached. */
  #add(found: TreeNode, tokens: Uint32Array, end: number): TreeNode {
    const known = this.#find(found, tokens, end)
    if (known !== found) this.#idle.remove(known)
    this.#usedTokens += end - known.end
    return known.end < end ? known.extend(tokens, end) : known
  }

  /** Returns the tokens in the pages that a prompt takes while it runs. */
  #pagesOf(promptTokens: number): number {
    return this.#wholePages(promptTokens + this.#pageTokens - 1)
  }

  #wholePages(tokens: number): number {
    return Math.max(0, Math.floor(tokens / this.#pageTokens)) * this.#pageTokens
  }
}
