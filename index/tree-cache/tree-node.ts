import type { LruItem } from './lru-list.ts'

/** No engine has so large a vocabulary. */
const unknownToken = 0xffff_ffff

/** A run of whole pages in a radix tree; siblings differ in their first page. */
export class TreeNode implements LruItem<TreeNode> {
  parent: TreeNode | undefined
  tokens: Uint32Array
  /** length of the prefix that ends with this node */
  end: number
  /** by first token; the few siblings that share one are compared */
  readonly #children = new Map<number, TreeNode[]>()
  /** the requests whose longest cached prefix ends here */
  requests: number[] = []
  /** for a prompt that ended here: its last tokens, short of a page, and the pages of these and its answer */
  answer: { readonly front: Uint32Array; readonly pages: TreeNode } | undefined
  older: TreeNode | undefined
  newer: TreeNode | undefined

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

  /** Adds a child of tokens that no prompt has. */
  extendUnknown(length: number): TreeNode {
    const child = new TreeNode(this, new Uint32Array(length).fill(unknownToken), this.end + length)
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
    this.answer = undefined
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
