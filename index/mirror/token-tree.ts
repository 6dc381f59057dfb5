/** A stretch of whole pages that is always held as a whole. */
interface TokenNode {
  tokens: Uint32Array
  parent: TokenNode | undefined
  /** by their first page; children of the root by scope */
  readonly children: Map<string, TokenNode>
  /** key among its parent's children */
  key: string
  /** tokens from the start of the prompt to the end of this stretch */
  end: number
  /** since when it is held, as an `order` given to `hold` */
  since: number
  /** number of prompts whose held prefix ends here */
  holders: number
  /** lengths of the prompt within this stretch at which an engine keeps a checkpoint, and since when */
  checkpoints: Map<number, number>
  /** held tokens of a prompt that ends here and its answer, whose tokens are unknown; 0 if no answer is held */
  continued: number
}

const nothing = new Uint32Array(0)

/** The place in a tree where the held prefix of a prompt ends. */
export type HeldPlace = TokenNode

/**
 * The held prefixes of prompts, as a radix tree over pages of tokens. A page is stored once, however many prompts hold
 * it. Partial pages are not held. Every stretch knows since when it is held, so that a prompt can be compared with what
 * was held before it.
 */
export class TokenTree {
  /** tokens per page */
  readonly pageTokens: number
  readonly #root: TokenNode = createNode('', nothing, undefined, 0)
  #size = 0

  constructor(pageTokens: number) {
    this.pageTokens = pageTokens
  }

  /** Number of tokens in the tree. */
  get size(): number {
    return this.#size
  }

  /** Holds a prompt. Stretches not held before count as held since `order`. Scopes share nothing. O(tokens). */
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

  /**
   * Shortens a held prompt to the whole pages within its first `atMost` tokens. If others hold the rest, it counts as
   * held since `order`. Returns the new end.
   */
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

  /** Releases a prompt that is held up to `place`. */
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

  /** Sets how many tokens of the prompt that ends at `place` and its answer are held. */
  continue(place: HeldPlace, tokens: number): void {
    place.continued = tokens > place.end ? tokens : 0
  }

  /**
   * Returns how many leading tokens of the prompt that ends at `place` were held before `order`. `continued` is the
   * count if this prompt continues with the answer to the prompt that ends at that point.
   */
  findBefore(place: HeldPlace, order: number): { readonly tokens: number; readonly continued: number } {
    let last = place
    for (let node: TokenNode | undefined = place; node?.parent; node = node.parent) {
      if (node.since >= order) last = node.parent
    }
    return { tokens: last.end, continued: Math.max(last.end, last.continued) }
  }

  /** Sets at which lengths of the prompt that ends at `place` checkpoints are kept. New ones count from `order`. */
  keepCheckpoints(place: HeldPlace, lengths: readonly number[], order: number): void {
    for (let node: TokenNode | undefined = place; node; node = node.parent) {
      const { checkpoints: before, tokens, end } = node
      const own = lengths.filter((length) => end - tokens.length < length && length <= end)
      node.checkpoints = new Map(own.map((length) => [length, Math.min(before.get(length) ?? order, order)]))
    }
  }

  /** Returns the last checkpoint within the first `most` tokens of the prompt at `place` that was kept before `order`. */
  findCheckpoint(place: HeldPlace, most: number, order: number): number {
    for (let node: TokenNode | undefined = place; node; node = node.parent) {
      const own = [...node.checkpoints].filter(([length, since]) => length <= most && since < order)
      if (own.length > 0) return Math.max(...own.map(([length]) => length))
    }
    return 0
  }

  /** Returns the tokens up to a place. */
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

  /** Splits a stretch after `length` tokens. `node` keeps the second part, so places stay valid. Returns the first. */
  #split(node: TokenNode, length: number): TokenNode {
    const first = createNode(node.key, node.tokens.slice(0, length), node.parent!, node.since)
    node.parent!.children.set(first.key, first)
    first.checkpoints = new Map([...node.checkpoints].filter(([at]) => at <= first.end))
    for (const at of first.checkpoints.keys()) node.checkpoints.delete(at)
    this.#move(node, first, node.tokens.slice(length))
    return first
  }

  /** Joins a stretch with its only child if no prompt ends there and both are held since the same order. */
  #join({ parent, tokens, holders, children, since, checkpoints }: TokenNode): void {
    if (!parent || tokens.length === 0 || holders > 0 || children.size !== 1) return
    const [child] = children.values()
    if (child!.since !== since) return
    const joined = new Uint32Array(tokens.length + child!.tokens.length)
    joined.set(tokens)
    joined.set(child!.tokens, tokens.length)
    child!.checkpoints = new Map([...checkpoints, ...child!.checkpoints])
    this.#move(child!, parent, joined)
  }

  /** Moves a stretch to another parent and changes its tokens. */
  #move(node: TokenNode, parent: TokenNode, tokens: Uint32Array): void {
    node.tokens = tokens
    node.parent = parent
    node.key = this.#keyOf(tokens, 0)
    parent.children.set(node.key, node)
  }
}

function createNode(key: string, tokens: Uint32Array, parent: TokenNode | undefined, since: number): TokenNode {
  const end = (parent?.end ?? 0) + tokens.length
  return { tokens, parent, children: new Map(), key, end, since, holders: 0, checkpoints: new Map(), continued: 0 }
}

/** Returns how many tokens of a stretch match the prompt from `start` on. */
function commonLength(stretch: Uint32Array, prompt: Uint32Array, start: number): number {
  const most = Math.min(stretch.length, prompt.length - start)
  let i = 0
  while (i < most && stretch[i] === prompt[start + i]) i += 1
  return i
}
