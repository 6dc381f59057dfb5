import type { BlockId, Context, RequestId } from './context-block.ts'
import { contextDistance, defaultAlpha } from './context-distance.ts'
import { attach, type ContextNode, createNode, detach, nodeAt, replace, searchPath } from './context-tree.ts'

/** What a search found: where a context belongs, and the blocks it shares with that node, in the node's order. */
export interface ContextMatch {
  readonly node: ContextNode
  readonly prefix: Context
}

/**
 * The context index (ContextPilot §4): a tree of the contexts an engine holds, in which every virtual node holds the
 * prefix its children share. Synchronous and deterministic: equal histories give equal trees.
 */
export class ContextIndex {
  readonly root: ContextNode
  readonly #alpha: number
  readonly #leaves: Map<RequestId, ContextNode>
  #nodes = 0

  /** An empty index, or one over a tree that was built from a batch (build-index.ts). */
  constructor(options: { root?: ContextNode; leaves?: Map<RequestId, ContextNode>; alpha?: number } = {}) {
    this.root = options.root ?? createNode([])
    this.#leaves = options.leaves ?? new Map()
    this.#alpha = options.alpha ?? defaultAlpha
    for (const leaf of this.#leaves.values()) {
      leaf.requests += 1
      countVisit(leaf)
    }
    this.#nodes = countNodes(this.root)
  }

  /** Nodes below the root. */
  get nodes(): number {
    return this.#nodes
  }

  /** Requests whose contexts are held. */
  get requests(): number {
    return this.#leaves.size
  }

  /**
   * Context search (Algorithm 1): descends greedily to the child at the least distance (Equation 1; the first of
   * equals) that adds blocks of the context, until a leaf, or a node that is not wholly in the context, is reached.
   * The children that share a block are looked up, not scanned: O(|C|²) a level, however many children there are.
   */
  search(context: Context): ContextMatch {
    const wanted = new Set(context)
    let node = this.root
    for (;;) {
      const child = this.#nearestChild(node, context, wanted)
      if (!child) return { node, prefix: node.blocks }
      const prefix = child.blocks.filter((block) => wanted.has(block))
      if (child.children.size === 0 || prefix.length < child.blocks.length) return { node: child, prefix }
      node = child
    }
  }

  /**
   * Inserts a context as it was sent under the id of its request, at the place a search found for it. An internal
   * node gets it as a child; a leaf (or a virtual node that is only partly shared) makes room for a new virtual node
   * with the intersection (§4.2, "Context search"). Equal contexts share a leaf. O(|C|) but for counting.
   */
  insert(context: Context, request: RequestId, match?: ContextMatch): ContextNode {
    // removing an earlier context of the same request may prune the node that was matched
    const place = this.remove(request) || !match ? this.search(context) : match
    const leaf = this.#place(context, place)
    leaf.requests += 1
    this.#leaves.set(request, leaf)
    countVisit(leaf)
    return leaf
  }

  /** Forgets a request and prunes what only it held, up to the first node that others need: O(h). */
  remove(request: RequestId): boolean {
    const leaf = this.#leaves.get(request)
    if (!leaf) return false
    this.#leaves.delete(request)
    leaf.requests -= 1
    this.#prune(leaf)
    return true
  }

  /** Keeps only the first `length` blocks of what a request sent: the engine has evicted the rest. */
  truncate(request: RequestId, length: number): void {
    const leaf = this.#leaves.get(request)
    if (!leaf || leaf.blocks.length <= length) return
    const kept = leaf.blocks.slice(0, length)
    this.remove(request)
    if (kept.length > 0) this.insert(kept, request)
  }

  /** The blocks held for a request, in the order they were sent. */
  contextOf(request: RequestId): Context | undefined {
    return this.#leaves.get(request)?.blocks
  }

  /** The search path of a request's leaf. */
  pathOf(request: RequestId): number[] | undefined {
    const leaf = this.#leaves.get(request)
    return leaf && searchPath(leaf)
  }

  /** Traversal by search path (§4.2). */
  at(path: readonly number[]): ContextNode | undefined {
    return nodeAt(this.root, path)
  }

  #nearestChild(node: ContextNode, context: Context, wanted: ReadonlySet<BlockId>): ContextNode | undefined {
    const candidates = new Set<ContextNode>()
    for (const block of wanted) for (const child of node.childrenByBlock.get(block) ?? []) candidates.add(child)
    let nearest: ContextNode | undefined
    let least = Number.POSITIVE_INFINITY
    for (const child of candidates) {
      const distance = contextDistance(context, child.blocks, this.#alpha)
      if (distance < least || (distance === least && child.slot < nearest!.slot)) {
        nearest = child
        least = distance
      }
    }
    return nearest
  }

  #place(context: Context, { node, prefix }: ContextMatch): ContextNode {
    if (node.requests > 0 && equalContexts(node.blocks, context)) return node
    const leaf = createNode(context)
    this.#nodes += 1
    const isInternal = node.requests === 0 && prefix.length === node.blocks.length
    if (isInternal) {
      attach(node, leaf)
      return leaf
    }
    const virtual = createNode(prefix, contextDistance(context, node.blocks, this.#alpha))
    this.#nodes += 1
    virtual.frequency = node.frequency
    replace(node, virtual)
    attach(virtual, node)
    attach(virtual, leaf)
    return leaf
  }

  #prune(node: ContextNode): void {
    let at: ContextNode | undefined = node
    while (at?.parent && at.requests === 0 && at.children.size < 2) {
      const parent: ContextNode = at.parent
      const [only] = at.children.values()
      // a virtual node with one child left shares nothing: the child takes its place
      if (only) {
        detach(only)
        replace(at, only)
      } else detach(at)
      this.#nodes -= 1
      at = only ? undefined : parent
    }
  }
}

function countVisit(leaf: ContextNode): void {
  for (let at: ContextNode | undefined = leaf; at; at = at.parent) at.frequency += 1
}

function countNodes(root: ContextNode): number {
  let nodes = 0
  for (const child of root.children.values()) nodes += 1 + countNodes(child)
  return nodes
}

function equalContexts(a: Context, b: Context): boolean {
  return a.length === b.length && a.every((block, i) => block === b[i])
}
