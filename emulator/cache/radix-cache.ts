import { LruList } from '#index/tree-cache/lru-list.ts'
import type { CacheRequest, CacheSequence, PrefixCache } from './prefix-cache.ts'
import { type RadixNode, RadixTree } from './radix-tree.ts'
import { type CachedRequest, type CacheReport, RequestLedger } from './request-ledger.ts'

/**
 * SGLang's prefix cache: a radix tree of token runs in whole pages (one token per page by default). Nodes that running
 * requests use are locked. Among the others, the least recently used leaf is evicted first, as a whole.
 */
export class RadixCache implements PrefixCache {
  readonly capacityTokens: number
  readonly #pageTokens: number
  readonly #tree: RadixTree
  /** The nodes without locks. A path is freed from its end, so the oldest of them is always a leaf. */
  readonly #idle = new LruList<RadixNode>()
  readonly #ledger = new RequestLedger()
  #idleTokens = 0
  #running = 0
  #usedTokens = 0

  constructor(capacityTokens: number, pageTokens: number) {
    this.#pageTokens = pageTokens
    this.#tree = new RadixTree(pageTokens)
    this.capacityTokens = this.wholePages(capacityTokens)
  }

  get usedTokens(): number {
    return this.#usedTokens
  }

  open(request: CacheRequest): CacheSequence {
    return new RadixSequence(this, request)
  }

  match(tokens: Uint32Array, salt: string): number {
    const { node, shared } = this.#tree.walk(salt, tokens, this.wholePages(tokens.length))
    return node.tokens - node.key.length + shared
  }

  clear(): boolean {
    if (this.#running > 0) return false
    for (let node = this.#idle.oldest; node; node = this.#idle.oldest) this.#idle.remove(node)
    this.#tree.clear()
    this.#idleTokens = 0
    this.#usedTokens = 0
    this.#ledger.clear()
    return true
  }

  takeReports(): CacheReport[] {
    return this.#ledger.takeReports()
  }

  requests(): CachedRequest[] {
    return this.#ledger.requests()
  }

  /** Locks the request's cached prefix and takes space for the rest; undefined if other requests hold too much. */
  take({ salt, tokens, promptTokens }: CacheRequest): { node: RadixNode; heldTokens: number } | undefined {
    const node = this.#find(salt, tokens, this.wholePages(promptTokens - 1))
    this.lock(node)
    const held = Math.ceil(tokens.length / this.#pageTokens) * this.#pageTokens - node.tokens
    if (this.capacityTokens - this.#usedTokens + this.#idleTokens < held) {
      this.unlock(node)
      return undefined
    }
    while (this.capacityTokens - this.#usedTokens < held) this.#evict(this.#idle.oldest!)
    this.#usedTokens += held
    this.#running += 1
    return { node, heldTokens: held }
  }

  /** Inserts the whole pages of the first `length` tokens. Returns their node and the number of new tokens. */
  insert({ salt, tokens }: CacheRequest, length: number): { node: RadixNode; newTokens: number } {
    const end = this.wholePages(length)
    const found = this.#find(salt, tokens, end)
    const newTokens = end - found.tokens
    if (newTokens === 0) return { node: found, newTokens }
    const node = this.#tree.extend(found, tokens, end)
    this.#idle.append(node)
    this.#idleTokens += newTokens
    return { node, newTokens }
  }

  store(requestId: string, node: RadixNode): void {
    this.#ledger.store(requestId, node)
  }

  lock(node: RadixNode): void {
    for (let step = node; step.tokens > 0; step = step.parent!) {
      if (step.locks === 0) {
        this.#idle.remove(step)
        this.#idleTokens -= step.key.length
      }
      step.locks += 1
    }
  }

  unlock(node: RadixNode): void {
    for (let step = node; step.tokens > 0; step = step.parent!) {
      step.locks -= 1
      if (step.locks > 0) continue
      this.#idle.append(step)
      this.#idleTokens += step.key.length
    }
  }

  giveBack(tokens: number): void {
    this.#usedTokens -= tokens
  }

  end(): void {
    this.#running -= 1
  }

  /** Returns the node at the end of the longest cached prefix of the first `limit` tokens. The caller locks it. */
  #find(salt: string, tokens: Uint32Array, limit: number): RadixNode {
    const { node, shared } = this.#tree.walk(salt, tokens, limit)
    if (shared === node.key.length) return node
    const front = this.#tree.split(node, shared)
    if (front.locks === 0) this.#idle.append(front)
    return front
  }

  #evict(leaf: RadixNode): void {
    this.#idle.remove(leaf)
    this.#tree.remove(leaf)
    this.#idleTokens -= leaf.key.length
    this.#usedTokens -= leaf.key.length
    this.#ledger.retreat(leaf)
  }

  wholePages(tokens: number): number {
    return Math.floor(tokens / this.#pageTokens) * this.#pageTokens
  }
}

class RadixSequence implements CacheSequence {
  readonly #cache: RadixCache
  readonly #request: CacheRequest
  #node: RadixNode | undefined
  /** Space taken for tokens that are not in the tree. */
  #heldTokens = 0
  cachedTokens = 0

  constructor(cache: RadixCache, request: CacheRequest) {
    this.#cache = cache
    this.#request = request
  }

  acquire(): boolean {
    const taken = this.#cache.take(this.#request)
    if (!taken) return false
    this.#node = taken.node
    this.#heldTokens = taken.heldTokens
    this.cachedTokens = taken.node.tokens
    return true
  }

  computed(tokens: number): void {
    const before = this.#node!
    const { node, newTokens } = this.#cache.insert(this.#request, tokens)
    if (node.tokens > before.tokens) {
      // tokens that another request inserted meanwhile are not kept twice
      const duplicated = node.tokens - before.tokens - newTokens
      this.#heldTokens -= newTokens + duplicated
      this.#cache.giveBack(duplicated)
      this.#cache.lock(node)
      this.#cache.unlock(before)
      this.#node = node
    }
    this.#cache.store(this.#request.requestId, this.#node!)
  }

  release(tokens: number): void {
    const node = this.#node
    if (!node) return
    if (this.#cache.wholePages(tokens) > node.tokens) this.computed(tokens)
    this.#cache.giveBack(this.#heldTokens)
    this.#cache.unlock(this.#node!)
    this.#cache.end()
    this.#node = undefined
  }
}
