/** A run of whole pages in a radix tree; siblings differ in their first page. */
export class TreeNode {
  parent: TreeNode | undefined
  tokens: Uint32Array
  /** length of the prefix that ends with this node */
  end: number
  /** by first token; the few siblings that share one are compared */
  readonly #children = new Map<number, TreeNode[]>()
  /** the requests whose longest cached prefix ends here */
  requests: number[] = []
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

  constructor(parent: TreeNode | undefined, tokens: Uint32Array, end: number) {
    this.parent = parent
    this.tokens = tokens
    this.end = end
  }

  /** Returns the nodes from this one up to the root, without the root. */
  path(): TreeNode[] {
    const path: TreeNode[] = []
    for (let node: TreeNode = this; node.parent; node = node.parent) path.push(node)
    return path
  }

  get start(): number {
    return this.end - this.tokens.length
  }

  get isLeaf(): boolean {
    return this.#children.size === 0
  }

  /** Number of nodes below the root on the path to this one, including it. */
  get depth(): number {
    let depth = 0
    for (let node: TreeNode = this; node.parent; node = node.parent) depth += 1
    return depth
  }

  *children(): IterableIterator<TreeNode> {
    for (const siblings of this.#children.values()) yield* siblings
  }

  /**
   * Follows whole pages of the first `limit` tokens from this node's end. Returns the last matching node, and how many
   * of its tokens match.
   */
  walk(tokens: Uint32Array, limit: number, pageTokens: number): { node: TreeNode; shared: number } {
    let node: TreeNode = this
    while (node.end < limit) {
      const next = node.#nextOf(tokens, limit, pageTokens)
      if (!next) break
      if (next.shared < next.node.tokens.length) return next
      node = next.node
    }
    return { node, shared: node.tokens.length }
  }

  /** Adds the tokens from this node's end to `end` as a child. */
  extend(tokens: Uint32Array, end: number): TreeNode {
    // a copy, so that a node does not keep its request's whole prompt alive
    const child = new TreeNode(this, tokens.slice(this.end, end), end)
    this.#adopt(child)
    return child
  }

  /** Moves the first `shared` tokens to a new parent and returns it. This node keeps the rest and the requests. */
  split(shared: number): TreeNode {
    const parent = this.parent!
    const front = new TreeNode(parent, this.tokens.slice(0, shared), this.end - this.tokens.length + shared)
    parent.#abandon(this)
    parent.#adopt(front)
    this.tokens = this.tokens.slice(shared)
    this.parent = front
    front.#adopt(this)
    return front
  }

  /**
   * Removes the last `count` tokens of this leaf. If none are left, removes the leaf; its requests move to the parent.
   */
  shorten(count: number): void {
    this.end -= count
    if (count < this.tokens.length) {
      this.tokens = this.tokens.subarray(0, this.tokens.length - count)
      return
    }
    const parent = this.parent!
    parent.#abandon(this)
    if (parent.parent) for (const request of this.requests) parent.requests.push(request)
  }

  #nextOf(tokens: Uint32Array, limit: number, pageTokens: number): { node: TreeNode; shared: number } | undefined {
    for (const node of this.#children.get(tokens[this.end]!) ?? []) {
      const shared = sharedLength(node.tokens, tokens, this.end, limit)
      if (shared >= pageTokens) return { node, shared: shared - (shared % pageTokens) }
    }
    return undefined
  }

  #adopt(child: TreeNode): void {
    const siblings = this.#children.get(child.tokens[0]!)
    if (siblings) siblings.push(child)
    else this.#children.set(child.tokens[0]!, [child])
  }

  #abandon(child: TreeNode): void {
    const first = child.tokens[0]!
    const siblings = this.#children.get(first)!
    if (siblings.length === 1) this.#children.delete(first)
    else siblings.splice(siblings.indexOf(child), 1)
  }
}

function sharedLength(run: Uint32Array, tokens: Uint32Array, start: number, limit: number): number {
  const most = Math.min(run.length, limit - start)
  let length = 0
  while (length < most && run[length] === tokens[start + length]) length += 1
  return length
}
