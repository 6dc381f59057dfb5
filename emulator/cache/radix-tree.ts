import type { LruItem } from '#index/tree-cache/lru-list.ts'
import type { PrefixNode } from './request-ledger.ts'

/** A run of whole pages in a radix tree; siblings differ in their first page. */
export class RadixNode implements PrefixNode, LruItem<RadixNode> {
  parent: RadixNode | undefined
  /** The node's key among its parent's children: its first page; for the root of a branch, the salt. */
  name: string
  key: Uint32Array
  readonly tokens: number
  /** Running requests that use this node or a descendant; SGLang's `lock_ref`. */
  locks = 0
  readonly children: Map<string, RadixNode> = new Map()
  requests: Set<string> | undefined
  older: RadixNode | undefined
  newer: RadixNode | undefined

  constructor(parent: RadixNode | undefined, name: string, key: Uint32Array) {
    this.parent = parent
    this.name = name
    this.key = key
    this.tokens = (parent?.tokens ?? 0) + key.length
  }
}

/** Where a walk along a tree ended: `shared` tokens into `node`, or at its end if the walk matched all of it. */
interface RadixPosition {
  node: RadixNode
  shared: number
}

const noTokens = new Uint32Array(0)

/** The structure of a radix tree of page-aligned token runs, one branch per salt; does not track space or use. */
export class RadixTree {
  readonly #pageTokens: number
  readonly #branches = new Map<string, RadixNode>()

  constructor(pageTokens: number) {
    this.#pageTokens = pageTokens
  }

  /** Follows the first `limit` tokens, in whole pages, as far as the tree contains them. */
  walk(salt: string, tokens: Uint32Array, limit: number): RadixPosition {
    // a salt's branch is added to the tree with its first run: requests that cache nothing leave nothing there
    let node = this.#branches.get(salt) ?? new RadixNode(undefined, salt, noTokens)
    while (node.tokens < limit) {
      const child = node.children.get(this.#nameOf(tokens, node.tokens))
      if (!child) break
      const shared = this.#sharedLength(child, tokens, limit)
      if (shared < child.key.length) return { node: child, shared }
      node = child
    }
    return { node, shared: node.key.length }
  }

  /** Adds the tokens from `parent`'s end to `end` as its child. */
  extend(parent: RadixNode, tokens: Uint32Array, end: number): RadixNode {
    // a copy, so that a node does not keep its request's whole token array alive
    const key = tokens.slice(parent.tokens, end)
    const node = new RadixNode(parent, this.#nameOf(key, 0), key)
    parent.children.set(node.name, node)
    if (!parent.parent) this.#branches.set(parent.name, parent)
    return node
  }

  /** Splits `node` after `shared` of its tokens. The new front node copies its locks; requests stay at the end. */
  split(node: RadixNode, shared: number): RadixNode {
    const front = new RadixNode(node.parent, node.name, node.key.slice(0, shared))
    front.locks = node.locks
    front.parent!.children.set(front.name, front)
    node.key = node.key.slice(shared)
    node.name = this.#nameOf(node.key, 0)
    node.parent = front
    front.children.set(node.name, node)
    return front
  }

  /** Removes a leaf, and its salt's branch if that becomes empty. */
  remove(leaf: RadixNode): void {
    const parent = leaf.parent!
    parent.children.delete(leaf.name)
    if (!parent.parent && parent.children.size === 0) this.#branches.delete(parent.name)
  }

  clear(): void {
    this.#branches.clear()
  }

  #nameOf(tokens: Uint32Array, start: number): string {
    return tokens.subarray(start, start + this.#pageTokens).join()
  }

  #sharedLength(child: RadixNode, tokens: Uint32Array, limit: number): number {
    const start = child.tokens - child.key.length
    const end = Math.min(child.key.length, limit - start)
    let length = 0
    while (length < end && child.key[length] === tokens[start + length]) length += 1
    return length - (length % this.#pageTokens)
  }
}
