import { hashOn, hashText } from '../../hotness/murmur-hash.ts'
import type { Eviction } from './eviction/eviction.ts'
import type { HostFigures, HostTier } from './host-tier.ts'
import type { HostedCache } from './hosted-cache.ts'
import { TreeNode } from './tree-node.ts'

/**
 * A prefix cache as a radix tree of runs of whole pages. An eviction policy chooses the leaf to evict: as many pages as
 * necessary from its end, then the next leaf (Algorithm 1 of HotPrefix, with its policy). If there is a host behind the
 * cache, evicted content may move there, and comes back when it is requested or promoted.
 */
export class TieredCache implements HostedCache {
  readonly #capacityTokens: number
  readonly #pageTokens: number
  readonly #eviction: Eviction
  readonly #host: HostTier | undefined
  readonly #roots = new Map<string, TreeNode>()
  #changes = new Map<number, number>()
  #usedTokens = 0
  #uses = 0
  /** the path of the running request */
  #running: ReadonlySet<TreeNode> = new Set()

  constructor(capacityTokens: number, pageTokens: number, eviction: Eviction, host?: HostTier) {
    this.#pageTokens = pageTokens
    this.#capacityTokens = this.#wholePages(capacityTokens)
    this.#eviction = eviction
    this.#host = host
    if (host) host.drop = (node) => this.#drop(node)
  }

  serve(request: number, salt: string, tokens: Uint32Array, promptTokens: number = tokens.length): number {
    const heldTokens = Math.min(this.#pagesOf(tokens.length), this.#capacityTokens)
    // the last token of a prompt is computed even when it is cached
    const found = this.#find(this.#rootOf(salt), tokens, Math.min(promptTokens - 1, this.#capacityTokens))
    const path = found.path()
    const cached = path.find(({ isOnHost }) => !isOnHost)?.end ?? 0
    this.#running = new Set(path)
    for (const node of path) this.#withdraw(node)
    this.#makeRoom(heldTokens - cached)
    const end = this.#add(found, tokens, this.#wholePages(Math.min(tokens.length, heldTokens)))
    this.#host?.found(cached, found.end)
    this.#run(end)
    if (end.end > 0) end.requests.push(request)
    this.#changes.set(request, end.end)
    this.#eviction.passRequest()
    this.#host?.passRequest(this)
    return cached
  }

  holds(promptTokens: number): boolean {
    return this.#pagesOf(promptTokens) <= this.#capacityTokens
  }

  takeChanges(): ReadonlyMap<number, number> {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  /** Transfers between the device and its host; undefined without a host. */
  get hostFigures(): HostFigures | undefined {
    return this.#host?.figures
  }

  get freeTokens(): number {
    return this.#capacityTokens - this.#usedTokens
  }

  /** Evicts a leaf, and its descendants on the host. */
  discard(leaf: TreeNode): void {
    this.#leave(leaf)
    this.#drop(leaf)
  }

  /** Moves a host node whose parent is on the device to the device. */
  promote(node: TreeNode): void {
    this.#usedTokens += node.tokens.length
    this.#host!.take(node)
    node.isOnHost = false
    node.parent!.deviceChildren += 1
    if (node.parent!.parent) this.#withdraw(node.parent!)
    this.#eviction.use(node, true)
    this.#offer(node)
    for (const request of requestsBehind(node)) this.#changes.set(request, node.end)
  }

  #rootOf(salt: string): TreeNode {
    const known = this.#roots.get(salt)
    if (known) return known
    const root = new TreeNode(undefined, new Uint32Array(0), 0)
    root.hashState = hashText(salt)
    this.#roots.set(salt, root)
    return root
  }

  /**
   * Finds the longest cached part of the first `limit` tokens, starting at `from`. Returns the node that ends there.
   */
  #find(from: TreeNode, tokens: Uint32Array, limit: number): TreeNode {
    const { node, shared } = from.walk(tokens, this.#wholePages(limit), this.#pageTokens)
    return shared === node.tokens.length ? node : this.#split(node, shared)
  }

  #split(node: TreeNode, shared: number): TreeNode {
    const front = node.split(shared)
    front.hashState = node.hashState
    node.hashState = hashOn(front.hashState, front.tokens, 0, shared)
    // the front begins where the node did and keeps its name, so only the tail needs a new one
    front.name = node.name
    node.name = -1
    Object.assign(front, { uses: node.uses, lastUse: node.lastUse, created: node.created, isOnHost: node.isOnHost })
    if (!node.isOnHost) front.deviceChildren = 1
    this.#eviction.split(front, node)
    this.#host?.split(front, node)
    return front
  }

  #makeRoom(tokens: number): void {
    for (;;) {
      const missing = this.#usedTokens + tokens - this.#capacityTokens
      if (missing <= 0) return
      const leaf = this.#eviction.victim()!
      // the part cut off becomes a node, so that its name is recognised when it is computed again
      if (missing < leaf.tokens.length) this.#split(leaf, leaf.tokens.length - missing)
      if (this.#host?.admits(leaf)) this.#offload(leaf)
      else this.discard(leaf)
    }
  }

  #offload(leaf: TreeNode): void {
    this.#leave(leaf)
    leaf.isOnHost = true
    for (const request of requestsBehind(leaf)) this.#changes.set(request, leaf.start)
    this.#host!.admit(leaf)
  }

  /** Removes a leaf from the device; its parent may become a candidate. */
  #leave(leaf: TreeNode): void {
    this.#withdraw(leaf)
    this.#usedTokens -= leaf.tokens.length
    this.#eviction.evicted(leaf)
    const parent = leaf.parent!
    parent.deviceChildren -= 1
    if (parent.deviceChildren === 0 && parent.parent && !this.#running.has(parent)) this.#offer(parent)
  }

  /** Removes a node and its descendants on the host from the tree. */
  #drop(node: TreeNode): void {
    for (const child of [...node.children()]) this.#drop(child)
    if (node.isOnHost) this.#host!.take(node)
    const { requests, parent } = node
    node.shorten(node.tokens.length)
    for (const request of requests) this.#changes.set(request, node.end)
    if (parent?.isOnHost && parent.isLeaf) this.#host!.offer(parent)
  }

  /** Adds what is not cached yet after `found`, up to `end`. It may be nothing if the whole prompt was cached. */
  #add(found: TreeNode, tokens: Uint32Array, end: number): TreeNode {
    const known = this.#find(found, tokens, end)
    if (known !== found) {
      this.#withdraw(known)
    }
    let last = known
    while (last.end < end) {
      const { runTokens = end } = this.#eviction
      const added = last.extend(tokens, Math.min(end, last.end - (last.end % runTokens) + runTokens))
      added.hashState = hashOn(last.hashState, last.tokens, 0, last.tokens.length)
      added.created = -1
      last = added
    }
    return last
  }

  /** Records that a request has run along a path, all of which is on the device now. */
  #run(end: TreeNode): void {
    for (const node of end.path()) {
      this.#uses += 1
      const isNew = node.created < 0 || node.isOnHost
      if (isNew) {
        node.created = this.#uses
        node.uses = 0
        this.#usedTokens += node.tokens.length
        node.isOnHost = false
        node.parent!.deviceChildren += 1
      }
      node.uses += 1
      node.lastUse = this.#uses
      this.#eviction.use(node, isNew)
      this.#host?.use(node)
    }
    this.#running = new Set()
    if (end.parent && end.deviceChildren === 0) this.#offer(end)
  }

  /** Makes a node a candidate. No request runs through it, and it has no descendants on the device. */
  #offer(node: TreeNode): void {
    this.#eviction.offer(node)
    this.#host?.offerDevice(node)
  }

  #withdraw(node: TreeNode): void {
    if (node.isOnHost) this.#host!.take(node)
    else {
      this.#eviction.withdraw(node)
      this.#host?.withdrawDevice(node)
    }
  }

  /** Returns the tokens in the pages that a prompt takes while it runs. */
  #pagesOf(promptTokens: number): number {
    return this.#wholePages(promptTokens + this.#pageTokens - 1)
  }

  #wholePages(tokens: number): number {
    return Math.max(0, Math.floor(tokens / this.#pageTokens)) * this.#pageTokens
  }
}

/** Yields the requests whose longest cached prefix ends at a node or below it. */
function* requestsBehind(node: TreeNode): Generator<number> {
  yield* node.requests
  for (const child of node.children()) yield* requestsBehind(child)
}
