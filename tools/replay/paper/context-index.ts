import type { Context, RequestId } from '#index/context-block.ts'
import type { Ordering, OrderingIndex } from '#index/ordering/ordering-index.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { contextDistance, firstPlaces } from './context-distance.ts'

/**
 * The context index (ContextPilot §4): a tree of the contexts that an engine holds. Every virtual node is a prefix with
 * which contexts were sent. Synchronous and deterministic: equal histories give equal trees. Sizes of blocks are ignored.
 */
export class ContextIndex implements OrderingIndex {
  readonly root: ContextNode
  readonly #leaves: Map<RequestId, ContextNode>

  /** Creates an empty index, or one over a tree that was built from a batch (build-index.ts). */
  constructor(root: ContextNode = new ContextNode([]), leaves: Map<RequestId, ContextNode> = new Map()) {
    this.root = root
    this.#leaves = leaves
    for (const leaf of leaves.values()) leaf.requests += 1
  }

  /** Number of nodes below the root. */
  get nodes(): number {
    const nodes = new Set<ContextNode>()
    for (const leaf of this.#leaves.values())
      for (let at = leaf; at.parent && !nodes.has(at); at = at.parent) nodes.add(at)
    return nodes.size
  }

  /** Number of requests whose contexts are held. */
  get requests(): number {
    return this.#leaves.size
  }

  /**
   * Context search (Algorithm 1): descends to the nearest child (Equation 1; the first of equals) that shares a block
   * with the context, until it reaches a leaf or no child shares more than its parent does ("when all children are
   * equidistant, indicating the longest shared prefix", §4.2). As in line 3, the child may be only partly in the
   * context. Returns where the context belongs, and the blocks it shares with that node, in the node's order.
   */
  search(context: Context): { node: ContextNode; prefix: Context } {
    let node = this.root
    for (;;) {
      const child = nearestChild(node, context)
      if (!child) break
      node = child
    }
    const wanted = new Set(context)
    return { node, prefix: node.blocks.filter((block) => wanted.has(block)) }
  }

  /** Orders a context (Algorithm 2): what it shares with the node of its search comes first. */
  order(context: Context): Ordering {
    const { node, prefix } = this.search(context)
    return { order: alignContext(context, prefix), searchPath: node.path }
  }

  /**
   * Inserts a context, as it was sent, under the id of its request, at the node that a search finds (§4.2). An internal
   * node gets it as a child. A leaf is replaced by a new internal node with the prefix that both share. Equal contexts
   * share a leaf. It searches again with the context as sent, because other requests may have come and gone since it was
   * ordered.
   */
  insert(context: Context, _sizes: readonly number[], request: RequestId): void {
    this.remove(request)
    const leaf = this.#place(context, this.search(context).node)
    leaf.requests += 1
    this.#leaves.set(request, leaf)
  }

  /** Removes a request and prunes what only it held, up to the first node that others need. O(h). */
  remove(request: RequestId): boolean {
    const leaf = this.#leaves.get(request)
    if (!leaf) return false
    this.#leaves.delete(request)
    leaf.requests -= 1
    this.#prune(leaf)
    return true
  }

  /** Returns the blocks held for a request, in the order they were sent. */
  contextOf(request: RequestId): Context | undefined {
    return this.#leaves.get(request)?.blocks
  }

  /** Returns the search path of a request's leaf. */
  pathOf(request: RequestId): number[] | undefined {
    return this.#leaves.get(request)?.path
  }

  #place(context: Context, node: ContextNode): ContextNode {
    const differing = node.blocks.findIndex((block, i) => block !== context[i])
    if (node.requests > 0 && differing < 0 && node.blocks.length === context.length) return node
    const leaf = new ContextNode(context)
    const { parent } = node
    // a node is "a prefix stored in the prefix cache" (§4.1), so use the common prefix as sent, not the intersection
    const shared = differing < 0 ? node.blocks : node.blocks.slice(0, differing)
    if (node.requests === 0 || !parent) node.attach(leaf)
    // like an empty node (Algorithm 4, line 16), one that adds nothing is left out and its children go to its parent
    else if (shared.every((block) => firstPlaces(parent.blocks).has(block))) parent.attach(leaf)
    else {
      const virtual = new ContextNode(shared)
      node.replaceBy(virtual)
      virtual.attach(node)
      virtual.attach(leaf)
    }
    return leaf
  }

  #prune(node: ContextNode): void {
    let at: ContextNode | undefined = node
    while (at?.parent && at.requests === 0 && at.children.size < 2) {
      const parent: ContextNode = at.parent
      const [only] = at.children.values()
      // a virtual node with one child left is not shared: the child replaces it
      if (only) {
        only.detach()
        at.replaceBy(only)
      } else at.detach()
      at = only ? undefined : parent
    }
  }
}

/**
 * Algorithm 1, line 3: returns the nearest of the children that share a block which their parent does not have; of equals
 * the first.
 */
function nearestChild(node: ContextNode, context: Context): ContextNode | undefined {
  const held = firstPlaces(node.blocks)
  const added = context.filter((block) => !held.has(block))
  let nearest: ContextNode | undefined
  let least = Number.POSITIVE_INFINITY
  for (const child of node.children.values()) {
    const places = firstPlaces(child.blocks)
    if (!added.some((block) => places.has(block))) continue
    const distance = contextDistance(context, child.blocks)
    if (distance >= least) continue
    nearest = child
    least = distance
  }
  return nearest
}

/**
 * A node of the context tree (ContextPilot §4.1). A leaf is a context as it was sent. Every other node is virtual and
 * holds the prefix that it was created for.
 */
export class ContextNode {
  readonly blocks: Context
  parent: ContextNode | undefined
  /** its place among the parent's children; does not change while the node is attached, so search paths stay valid */
  slot = 0
  /** by slot, the lowest first */
  readonly children: Map<number, ContextNode> = new Map()
  /** how many live requests sent exactly this context; 0 for a virtual node */
  requests = 0
  #slots = 0

  constructor(blocks: Context) {
    this.blocks = blocks
  }

  /** The search path from the root: the slot at each level. */
  get path(): number[] {
    const path: number[] = []
    for (let at: ContextNode = this; at.parent; at = at.parent) path.push(at.slot)
    return path.reverse()
  }

  /** Attaches `child`, in a slot of its own. */
  attach(child: ContextNode, slot: number = this.#slots++): void {
    child.parent = this
    child.slot = slot
    this.children.set(slot, child)
  }

  /** Detaches this node and its subtree from its parent. */
  detach(): void {
    this.parent?.children.delete(this.slot)
    this.parent = undefined
  }

  /** Puts `replacement` in the place of this node, which it detaches. */
  replaceBy(replacement: ContextNode): void {
    this.parent?.attach(replacement, this.slot)
    this.parent = undefined
  }
}
