import { type LruItem, LruList } from './lru-list.ts'
import { PageRun } from './page-run.ts'

/** A run of whole pages that a cache holds. */
export abstract class CachedRun extends PageRun implements LruItem<CachedRun> {
  /** requests that use this run or one behind it; SGLang's `lock_ref` */
  locks = 0
  older: this | undefined
  newer: this | undefined

  /** The new front has the same users. */
  override split(shared: number): this {
    const front = super.split(shared)
    front.locks = this.locks
    return front
  }
}

/** What is freed at a time: as many pages as are needed, as in vLLM, or a leaf of the tree, as in SGLang. */
type Freed = 'page' | 'leaf'

/**
 * What a prefix cache holds: runs of whole pages by salt, within a capacity. Runs that requests use are locked. Of the
 * others, the least recently used is freed first, from its end.
 */
export abstract class PageTree<Run extends CachedRun> {
  /** whole pages, in tokens; may be Infinity */
  readonly capacityTokens: number
  readonly #pageTokens: number
  readonly #freed: Freed
  /** a branch is added with its first run: requests that cache nothing leave nothing here */
  readonly #roots = new Map<string, Run>()
  /** The runs without locks. A path is unlocked from its end, so the oldest of them is always a leaf. */
  #idle = new LruList<Run>()
  #idleTokens = 0
  /** space that is reserved or taken by what is cached */
  usedTokens = 0

  constructor(capacityTokens: number, pageTokens: number, freed: Freed = 'page') {
    this.#pageTokens = pageTokens
    this.#freed = freed
    this.capacityTokens = this.wholePages(capacityTokens)
  }

  /** Forgets everything. Returns false, without effect, while a request runs. */
  clear(): boolean {
    if (this.usedTokens > this.#idleTokens) return false
    this.#idle = new LruList()
    this.#roots.clear()
    this.#idleTokens = 0
    this.usedTokens = 0
    return true
  }

  /** the class of the runs */
  protected abstract readonly Run: new (
    ...run: ConstructorParameters<typeof CachedRun>
  ) => Run

  /** Called after a run has lost its end, or, if it `isGone`, all of it. */
  protected abstract onFreed(run: Run, isGone: boolean): void

  protected rootOf(salt: string): Run {
    return this.#roots.get(salt) ?? new this.Run(undefined, new Uint32Array(0), 0, salt)
  }

  /** How far whole pages of the first `limit` tokens are cached, from the end of `run` on. */
  protected walk(run: Run, tokens: Uint32Array, limit: number): { readonly node: Run; readonly shared: number } {
    return run.walk(tokens, this.wholePages(limit), this.#pageTokens)
  }

  /** Returns the run at the end of what is cached of the first `limit` tokens, split off if need be. */
  protected find(from: Run, tokens: Uint32Array, limit: number): Run {
    const { node, shared } = this.walk(from, tokens, limit)
    if (shared === node.tokens.length) return node
    const front = node.split(shared)
    if (front.locks === 0) this.#idle.append(front)
    return front
  }

  /** Puts a run and those before it in use. */
  protected lock(run: Run): void {
    for (let step = run; step.end > 0; step = step.parent!) {
      if (step.locks === 0) {
        this.#idle.remove(step)
        this.#idleTokens -= step.tokens.length
      }
      step.locks += 1
    }
  }

  protected unlock(run: Run): void {
    for (let step = run; step.end > 0; step = step.parent!) {
      step.locks -= 1
      if (step.locks > 0) continue
      this.#idle.append(step)
      this.#idleTokens += step.tokens.length
    }
  }

  /** Frees what is not in use until there is room, and reserves it. Returns false, without effect, if others use too much. */
  protected reserve(tokens: number): boolean {
    const missing = (): number => this.usedTokens + tokens - this.capacityTokens
    if (missing() > this.#idleTokens) return false
    while (missing() > 0) {
      const leaf = this.#idle.oldest!
      this.free(leaf, this.#freed === 'leaf' ? leaf.tokens.length : Math.min(missing(), leaf.tokens.length))
    }
    this.usedTokens += tokens
    return true
  }

  /** Gives back what was reserved. */
  protected giveBack(tokens: number): void {
    this.usedTokens -= tokens
  }

  /** Caches the whole pages of the first `length` tokens in reserved room. Returns their run, and how many tokens are new. */
  protected insert(from: Run, tokens: Uint32Array, length: number): { readonly run: Run; readonly added: number } {
    const end = this.wholePages(length)
    const found = this.find(from, tokens, end)
    if (found.end >= end) return { run: found, added: 0 }
    return { run: this.adopt(found.add(tokens.slice(found.end, end))), added: end - found.end }
  }

  /** Holds a new run, in reserved room. */
  protected adopt(run: Run): Run {
    const { parent } = run
    if (!parent!.parent) this.#roots.set(parent!.scope, parent!)
    this.#idle.append(run)
    this.#idleTokens += run.tokens.length
    return run
  }

  /** Frees the last tokens of a leaf that nobody uses. */
  protected free(leaf: Run, tokens: number): void {
    this.#idleTokens -= tokens
    this.usedTokens -= tokens
    const isGone = leaf.shorten(tokens)
    if (isGone) {
      this.#idle.remove(leaf)
      const { parent } = leaf
      if (!parent!.parent && parent!.isLeaf) this.#roots.delete(parent!.scope)
    }
    this.onFreed(leaf, isGone)
  }

  /** The tokens in the pages that a prompt takes while it runs. */
  protected pagesOf(tokens: number): number {
    return this.wholePages(tokens + this.#pageTokens - 1)
  }

  protected wholePages(tokens: number): number {
    return Math.max(0, Math.floor(tokens / this.#pageTokens)) * this.#pageTokens
  }
}
