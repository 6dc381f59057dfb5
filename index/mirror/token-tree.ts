import { PageRun } from '../tree-cache/page-run.ts'
import {
  type Checkpoint,
  type CheckpointRange,
  clipCheckpoints,
  findLastCheckpoint,
  replaceCheckpoints,
} from './checkpoints.ts'

/** A run of whole pages that is always held as a whole. */
class HeldRun extends PageRun {
  /** since when it is held, as an `order` given to `hold` */
  since: number = Number.NEGATIVE_INFINITY
  /** number of prompts whose held prefix ends here */
  holders = 0
  /** at lengths of the prompt within this run */
  checkpoints: readonly CheckpointRange[] = []
  /** held tokens of a prompt that ends here and its answer, whose tokens are unknown; 0 if no answer is held */
  continued = 0

  /** Both parts are held since the same time. */
  override split(shared: number): this {
    const front = super.split(shared)
    front.since = this.since
    front.checkpoints = clipCheckpoints(this.checkpoints, 0, front.end)
    this.checkpoints = clipCheckpoints(this.checkpoints, front.end, this.end)
    return front
  }

  /** Makes one run of this and its only child, if no prompt ends here and both are held since the same order. */
  joinOnlyChild(): void {
    const child = this.parent && this.holders === 0 ? this.onlyChild : undefined
    if (child?.since !== this.since) return
    this.replaceByChild(child)
    child.checkpoints = [...this.checkpoints, ...child.checkpoints]
  }
}

/** The place in a tree where the held prefix of a prompt ends. */
export type HeldPlace = HeldRun

/**
 * The held prefixes of prompts, as a radix tree over pages of tokens. A page is stored once, however many prompts hold
 * it. Partial pages are not held. Every run knows since when it is held, so that a prompt can be compared with what was
 * held before it.
 */
export class TokenTree {
  /** tokens per page */
  readonly pageTokens: number
  readonly #roots = new Map<string, HeldRun>()
  /** number of tokens in the tree */
  size = 0

  constructor(pageTokens: number) {
    this.pageTokens = pageTokens
  }

  /** Holds a prompt. Runs not held before count as held since `order`. Scopes share nothing. O(tokens). */
  hold(scope: string, tokens: Uint32Array, order: number): HeldPlace {
    const root = this.#roots.get(scope) ?? new HeldRun(undefined, new Uint32Array(0), 0, scope)
    this.#roots.set(scope, root)
    const length = this.#wholePages(tokens.length)
    const { node, shared } = root.walk(tokens, length, this.pageTokens)
    let end = shared < node.tokens.length ? node.split(shared) : node
    for (const run of end.path()) run.since = Math.min(run.since, order)
    if (end.end < length) {
      this.size += length - end.end
      end = end.add(tokens.slice(end.end, length))
      end.since = order
    }
    end.holders += 1
    return end
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
      const kept = end < length ? node.split(length - end) : node.parent!
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
    while (node.parent && node.holders === 0 && node.isLeaf) {
      const { parent } = node
      this.size -= node.tokens.length
      node.shorten(node.tokens.length)
      node = parent
    }
    if (!node.parent && node.isLeaf && node.holders === 0) this.#roots.delete(node.scope)
    node.joinOnlyChild()
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
    for (let node = place; node.parent; node = node.parent) if (node.since >= order) last = node.parent
    return { tokens: last.end, continued: Math.max(last.end, last.continued) }
  }

  /** Sets at which lengths of the prompt that ends at `place` checkpoints are kept. New ones count from `order`. */
  keepCheckpoints(place: HeldPlace, lengths: readonly Checkpoint[], order: number): void {
    for (const run of place.path()) {
      const kept = replaceCheckpoints(run.checkpoints, lengths, order)
      run.checkpoints = clipCheckpoints(kept, run.end - run.tokens.length, run.end)
    }
  }

  /** Returns the last checkpoint within the first `most` tokens of the prompt at `place` that was kept before `order`. */
  findCheckpoint(place: HeldPlace, most: number, order: number): number {
    for (const { checkpoints } of place.path()) {
      const found = findLastCheckpoint(checkpoints, most, order, this.pageTokens)
      if (found > 0) return found
    }
    return 0
  }

  /** Returns the tokens up to a place. */
  tokensOf(place: HeldPlace): Uint32Array {
    const all = new Uint32Array(place.end)
    for (const { tokens, end } of place.path()) all.set(tokens, end - tokens.length)
    return all
  }

  #wholePages(tokens: number): number {
    return tokens - (tokens % this.pageTokens)
  }
}
