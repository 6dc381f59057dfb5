import { getOrMake } from '../get-or-make.ts'

/** How far a walk came: the last matching run, and how many of its tokens match. */
interface Walked<Run> {
  readonly node: Run
  readonly shared: number
}

/** A run of whole pages in a radix tree; siblings differ in their first page. */
export abstract class PageRun {
  parent: this | undefined
  tokens: Uint32Array
  /** names the tree: one for each cache salt */
  readonly scope: string
  /** length of the prefix that ends with this run */
  end: number
  /** by first token; the few siblings that share one are compared; most runs are leaves */
  #children: Map<number, this[]> | undefined

  constructor(parent: PageRun | undefined, tokens: Uint32Array, end: number, scope: string = parent?.scope ?? '') {
    this.parent = parent as this | undefined
    this.scope = scope
    this.tokens = tokens
    this.end = end
  }

  /** Whether no run continues this one. */
  get isLeaf(): boolean {
    return !this.#children?.size
  }

  /** The run that continues this one, if there is exactly one. */
  get onlyChild(): this | undefined {
    const [siblings, ...others] = this.#children?.size === 1 ? this.#children.values() : []
    return others.length === 0 && siblings?.length === 1 ? siblings[0] : undefined
  }

  /** Returns the runs from this one up to the root, without the root. */
  path(): this[] {
    const path: this[] = []
    for (let node: this = this; node.parent; node = node.parent) path.push(node)
    return path
  }

  /** Follows whole pages of the first `limit` tokens from this run's end. */
  walk(tokens: Uint32Array, limit: number, pageTokens: number): Walked<this> {
    let node: this = this
    while (node.end < limit) {
      const next = node.#nextOf(tokens, limit, pageTokens)
      if (!next) break
      if (next.shared < next.node.tokens.length) return next
      node = next.node
    }
    return { node, shared: node.tokens.length }
  }

  /** Adds these tokens as a child, which keeps them: a copy, so that no request's whole prompt stays alive. */
  add(tokens: Uint32Array): this {
    const child = this.#create(this, tokens, this.end + tokens.length)
    this.#adopt(child)
    return child
  }

  /** Moves the first `shared` tokens to a new parent and returns it. This run keeps the rest. */
  split(shared: number): this {
    const parent = this.parent!
    const front = this.#create(parent, this.tokens.slice(0, shared), this.end - this.tokens.length + shared)
    parent.#abandon(this)
    parent.#adopt(front)
    this.tokens = this.tokens.slice(shared)
    this.parent = front
    front.#adopt(this)
    return front
  }

  /** Prepends this run to its only child, which takes its place. */
  protected replaceByChild(child: this): void {
    const parent = this.parent!
    const tokens = new Uint32Array(this.tokens.length + child.tokens.length)
    tokens.set(this.tokens)
    tokens.set(child.tokens, this.tokens.length)
    parent.#abandon(this)
    child.tokens = tokens
    child.parent = parent
    parent.#adopt(child)
  }

  /** Removes the last `count` tokens of this leaf, and the leaf if none are left. Returns whether it is gone. */
  shorten(count: number): boolean {
    this.end -= count
    if (count < this.tokens.length) {
      this.tokens = this.tokens.subarray(0, this.tokens.length - count)
      return false
    }
    this.parent!.#abandon(this)
    return true
  }

  /** Creates a run of the same kind. */
  #create(parent: this, tokens: Uint32Array, end: number): this {
    const Run = this.constructor as new (parent: this, tokens: Uint32Array, end: number) => this
    return new Run(parent, tokens, end)
  }

  #nextOf(tokens: Uint32Array, limit: number, pageTokens: number): Walked<this> | undefined {
    for (const node of this.#children?.get(tokens[this.end]!) ?? []) {
      const shared = sharedLength(node.tokens, tokens, this.end, limit)
      if (shared >= pageTokens) return { node, shared: shared - (shared % pageTokens) }
    }
    return undefined
  }

  #adopt(child: this): void {
    this.#children ??= new Map()
    getOrMake(this.#children, child.tokens[0]!, (): this[] => []).push(child)
  }

  #abandon(child: this): void {
    const first = child.tokens[0]!
    const siblings = this.#children!.get(first)!
    if (siblings.length === 1) this.#children!.delete(first)
    else siblings.splice(siblings.indexOf(child), 1)
  }
}

function sharedLength(run: Uint32Array, tokens: Uint32Array, start: number, limit: number): number {
  const most = Math.min(run.length, limit - start)
  let length = 0
  while (length < most && run[length] === tokens[start + length]) length += 1
  return length
}
