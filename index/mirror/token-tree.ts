/** A stretch of whole pages that all who hold it hold together. */
interface TokenNode {
  tokens: Uint32Array
  parent: TokenNode | undefined
  /** by their first page; below the root by their scope */
  readonly children: Map<string, TokenNode>
  /** among its parent's children */
  key: string
  /** tokens from the prompt's beginning up to the end of this stretch */
  end: number
  /** when it came to be held, in the order of `hold` */
  since: number
  /** prompts that are held up to the end of this stretch and no further */
  holders: number
  /** tokens that are held of a prompt that ends here and of its answer, whose tokens are not known; 0: no more */
  continued: number
}

const nothing = new Uint32Array(0)

/** The place in a tree up to which one prompt is held. */
export type HeldPlace = TokenNode

/**
 * The prefixes of prompts that are held, as a radix tree over the pages of their tokens: each page once, however many
 * hold it; what is less than a page is not held. Every stretch knows since when it is held, so that a prompt can be
 * compared with what was held before it.
 */
export class TokenTree {
  /** tokens in a page */
  readonly pageTokens: number
  readonly #root: TokenNode = createNode('', nothing, undefined, 0)
  #size = 0

  constructor(pageTokens: number) {
    this.pageTokens = pageTokens
  }

  /** Tokens in the tree. */
  get size(): number {
    return this.#size
  }

  /** Holds a prompt, from `order` on where nobody did before. Only prompts of one scope share. O(tokens). */
  hold(scope: string, tokens: Uint32Array, order: number): HeldPlace {
    let node = this.#root.children.get(scope) ?? this.#grow(this.#root, scope, nothing, Number.NEGATIVE_INFINITY)
    const length = this.#wholePages(tokens.length)
    while (node.end < length) {
      const key = this.#keyOf(tokens, node.end)
      const child = node.children.get(key)
      if (!child) {
        node = this.#grow(node, key, tokens.slice(node.end, length), order)
        break
      }
      const common = this.#wholePages(commonLength(child.tokens, tokens, node.end))
      node = common < child.tokens.length ? this.#split(child, common) : child
      node.since = Math.min(node.since, order)
    }
    node.holders += 1
    return node
  }

  /** Holds only the whole pages of the first `atMost` tokens of a prompt that was held up to a place; whoever holds the rest, does so from `order` on. */
  cut(place: HeldPlace, atMost: number, order: number): HeldPlace {
    const length = this.#wholePages(atMost)
    let node = place
    node.continued = 0
    while (node.end > length) {
      const { end } = node.parent!
      const kept = end < length ? this.#split(node, length - end) : node.parent!
      node.since = order
      node = kept
    }
    node.holders += 1
    this.release(place)
    return node
  }

  /** A prompt that was held up to a place is held no longer. */
  release(place: HeldPlace): void {
    place.holders -= 1
    if (place.holders === 0) place.continued = 0
    let node = place
    while (node.parent && node.holders === 0 && node.children.size === 0) {
      node.parent.children.delete(node.key)
      this.#size -= node.tokens.length
      node = node.parent
    }
    this.#join(node)
  }

  /** Of the prompt that is held up to a place, and of its answer, so many tokens are held. */
  continue(place: HeldPlace, tokens: number): void {
    place.continued = tokens > place.end ? tokens : 0
  }

  /**
   * How many tokens of the prompt that is held up to a place were held by others before `order`, from its beginning; and
   * how many when it goes on as the answer did to the prompt that ends there.
   */
  findBefore(place: HeldPlace, order: number): { readonly tokens: number; readonly continued: number } {
    let last = place
    for (let node: TokenNode | undefined = place; node?.parent; node = node.parent) {
      if (node.since >= order) last = node.parent
    }
    return { tokens: last.end, continued: Math.max(last.end, last.continued) }
  }

  /** The tokens up to a place. */
  tokensOf(place: HeldPlace): Uint32Array {
    const tokens = new Uint32Array(place.end)
    for (let node: TokenNode | undefined = place; node; node = node.parent) {
      tokens.set(node.tokens, node.end - node.tokens.length)
    }
    return tokens
  }

  #wholePages(tokens: number): number {
    return tokens - (tokens % this.pageTokens)
  }

  #keyOf(tokens: Uint32Array, start: number): string {
    return tokens.subarray(start, start + this.pageTokens).join()
  }

  #grow(parent: TokenNode, key: string, tokens: Uint32Array, order: number): TokenNode {
    const node = createNode(key, tokens, parent, order)
    parent.children.set(key, node)
    this.#size += tokens.length
    return node
  }

  /** Parts a stretch behind its first `length` tokens; places that were its end stay. Returns the first part. */
  #split(node: TokenNode, length: number): TokenNode {
    const first = createNode(node.key, node.tokens.slice(0, length), node.parent!, node.since)
    node.parent!.children.set(first.key, first)
    this.#move(node, first, node.tokens.slice(length))
    return first
  }

  /** Puts a stretch that nothing ends or branches at together with the one behind it. */
  #join({ parent, tokens, holders, children, since }: TokenNode): void {
    if (!parent || tokens.length === 0 || holders > 0 || children.size !== 1) return
    const [child] = children.values()
    if (child!.since !== since) return
    const joined = new Uint32Array(tokens.length + child!.tokens.length)
    joined.set(tokens)
    joined.set(child!.tokens, tokens.length)
    this.#move(child!, parent, joined)
  }

  /** Hangs a stretch below another parent, where it has other tokens. */
  #move(node: TokenNode, parent: TokenNode, tokens: Uint32Array): void {
    node.tokens = tokens
    node.parent = parent
    node.key = this.#keyOf(tokens, 0)
    parent.children.set(node.key, node)
  }
}

function createNode(key: string, tokens: Uint32Array, parent: TokenNode | undefined, since: number): TokenNode {
  const end = (parent?.end ?? 0) + tokens.length
  return { tokens, parent, children: new Map(), key, end, since, holders: 0, continued: 0 }
}

/** How many tokens of a stretch a prompt has in common with it, read from `start` of the prompt. */
function commonLength(stretch: Uint32Array, prompt: Uint32Array, start: number): number {
  const most = Math.min(stretch.length, prompt.length - start)
  let i = 0
  while (i < most && stretch[i] === prompt[start + i]) i += 1
  return i
}
