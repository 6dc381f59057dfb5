import { type LruItem, LruList } from '#index/tree-cache/lru-list.ts'
import { PageRun } from '#index/tree-cache/page-run.ts'
import type { CacheRequest, CacheSequence, PrefixCache } from './prefix-cache.ts'
import { type CachedRequest, type CacheReport, type PrefixNode, RequestLedger } from './request-ledger.ts'

/** A run of whole pages in the radix tree. */
class RadixNode extends PageRun implements PrefixNode, LruItem<RadixNode> {
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

/** What is evicted at a time: a leaf of the tree, as in SGLang, or a page, as in vLLM. */
type Evicted = 'leaf' | 'page'

/**
 * An engine's prefix cache: a radix tree of token runs in whole pages. SGLang's is one. vLLM finds pages by a chain of
 * hashes, which comes to the same, except that it keeps a page twice that two requests computed at once. Nodes that
 * running requests use are locked. Among the others, the least recently used leaf is evicted first, from its end.
 */
export class RadixCache implements PrefixCache {
  readonly capacityTokens: number
  readonly #pageTokens: number
  readonly #evicted: Evicted
  /** by salt; a branch is added with its first run: requests that cache nothing leave nothing here */
  readonly #roots = new Map<string, RadixNode>()
  /** The nodes without locks. A path is freed from its end, so the oldest of them is always a leaf. */
  readonly #idle = new LruList<RadixNode>()
  readonly #ledger = new RequestLedger()
  #idleTokens = 0
  #running = 0
  #usedTokens = 0

  constructor(capacityTokens: number, pageTokens: number, evicted: Evicted) {
    this.#pageTokens = pageTokens
    this.#evicted = evicted
    this.capacityTokens = this.#wholePages(capacityTokens)
  }

  get usedTokens(): number {
    return this.#usedTokens
  }

  open(request: CacheRequest): CacheSequence {
    let node: RadixNode | undefined
    /** space taken for tokens that are not in the tree */
    let held = 0
    const sequence = {
      cachedTokens: 0,
      acquire: (): boolean => {
        const taken = this.#take(request)
        if (!taken) return false
        node = taken.node
        held = taken.heldTokens
        sequence.cachedTokens = node.end
        return true
      },
      computed: (tokens: number): void => {
        const before = node!
        const { node: after, newTokens } = this.#insert(request, tokens)
        if (after.end > before.end) {
          // tokens that another request inserted meanwhile are not kept twice
          held -= after.end - before.end
          this.#usedTokens -= after.end - before.end - newTokens
          this.#lock(after)
          this.#unlock(before)
          node = after
        }
        this.#ledger.store(request.requestId, node)
      },
      release: (tokens: number): void => {
        if (!node) return
        if (this.#wholePages(tokens) > node.end) sequence.computed(tokens)
        this.#usedTokens -= held
        this.#unlock(node)
        this.#running -= 1
        node = undefined
      },
    }
    return sequence
  }

  match(tokens: Uint32Array, salt: string): number {
    const { node, shared } = this.#walk(salt, tokens, this.#wholePages(tokens.length))
    return node.end - node.tokens.length + shared
  }

  clear(): boolean {
    if (this.#running > 0) return false
    for (let node = this.#idle.oldest; node; node = this.#idle.oldest) this.#idle.remove(node)
    this.#roots.clear()
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
  #take({ salt, tokens, promptTokens }: CacheRequest): { node: RadixNode; heldTokens: number } | undefined {
    const node = this.#find(salt, tokens, this.#wholePages(promptTokens - 1))
    this.#lock(node)
    const held = Math.ceil(tokens.length / this.#pageTokens) * this.#pageTokens - node.end
    if (this.capacityTokens - this.#usedTokens + this.#idleTokens < held) {
      this.#unlock(node)
      return undefined
    }
    this.#makeRoom(held)
    this.#usedTokens += held
    this.#running += 1
    return { node, heldTokens: held }
  }

  /** Inserts the whole pages of the first `length` tokens. Returns their node and the number of new tokens. */
  #insert({ salt, tokens }: CacheRequest, length: number): { node: RadixNode; newTokens: number } {
    const end = this.#wholePages(length)
    const found = this.#find(salt, tokens, end)
    const newTokens = end - found.end
    if (newTokens === 0) return { node: found, newTokens }
    if (!found.parent) this.#roots.set(salt, found)
    const node = found.extend(tokens, end)
    this.#idle.append(node)
    this.#idleTokens += newTokens
    return { node, newTokens }
  }

  #lock(node: RadixNode): void {
    for (let step = node; step.end > 0; step = step.parent!) {
      if (step.locks === 0) {
        this.#idle.remove(step)
        this.#idleTokens -= step.tokens.length
      }
      step.locks += 1
    }
  }

  #unlock(node: RadixNode): void {
    for (let step = node; step.end > 0; step = step.parent!) {
      step.locks -= 1
      if (step.locks > 0) continue
      this.#idle.append(step)
      this.#idleTokens += step.tokens.length
    }
  }

  /** Returns the node at the end of the longest cached prefix of the first `limit` tokens. The caller locks it. */
  #find(salt: string, tokens: Uint32Array, limit: number): RadixNode {
    const { node, shared } = this.#walk(salt, tokens, limit)
    if (shared === node.tokens.length) return node
    const front = node.split(shared)
    if (front.locks === 0) this.#idle.append(front)
    return front
  }

  #walk(salt: string, tokens: Uint32Array, limit: number): { node: RadixNode; shared: number } {
    const root = this.#roots.get(salt) ?? new RadixNode(undefined, new Uint32Array(0), 0, salt)
    return root.walk(tokens, limit, this.#pageTokens)
  }

  #makeRoom(tokens: number): void {
    for (;;) {
      const missing = tokens - (this.capacityTokens - this.#usedTokens)
      if (missing <= 0) return
      const leaf = this.#idle.oldest!
      const { length } = leaf.tokens
      this.#evict(leaf, this.#evicted === 'page' ? Math.min(missing, length) : length)
    }
  }

  #evict(leaf: RadixNode, tokens: number): void {
    this.#idleTokens -= tokens
    this.#usedTokens -= tokens
    if (!leaf.shorten(tokens)) {
      this.#ledger.shorten(leaf)
      return
    }
    this.#ledger.retreat(leaf)
    this.#idle.remove(leaf)
    const parent = leaf.parent!
    if (!parent.parent && parent.isLeaf) this.#roots.delete(parent.salt)
  }

  #wholePages(tokens: number): number {
    return Math.floor(tokens / this.#pageTokens) * this.#pageTokens
  }
}
