import type { MirroredPrompt, SentPrompt } from '../cache-event.ts'
import type { SharedBlocks } from '../columns/block-table.ts'
import { FloatColumn, WholeColumn } from '../columns/number-column.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import { SequenceTree } from '../columns/sequence-tree.ts'
import type { ScopeId } from '../context-block.ts'
import { HeldParts, type HeldPrefix } from './held-parts.ts'
import type { MirroredRequest, MirroredRequests } from './mirrored-requests.ts'
import { PromptMarks } from './prompt-marks.ts'

/** A context of a prompt, with its blocks by number. */
export interface HeldContext {
  readonly scope: ScopeId
  readonly blocks: readonly number[]
  /** where each block ends in the prompt, in characters from its start */
  readonly ends: readonly number[]
}

/** Converts a sent prompt to the form a mirror keeps. */
export function toMirroredPrompt({ contexts, prefixes, ends, length }: SentPrompt): MirroredPrompt {
  return { contexts, symbols: prefixes.map(toPrefixSymbol), ends, length }
}

/**
 * The prompts that were sent, and how many requests hold each of their prefixes. They form a tree of prefixes, in which
 * a prompt is identified by the node where it ends. A prefix that many prompts share is stored once. Each place takes
 * 12 bytes: the prefix's symbol, its end and its mark.
 */
export class MirroredPrompts {
  readonly #marks: PromptMarks
  readonly #ends: WholeColumn
  /** by node: number of requests that hold all of it */
  readonly #holders = new WholeColumn()
  /** by node: tokens per character of the last counted request that holds it; 0 if none was counted */
  readonly #densities = new FloatColumn()
  readonly #tree: SequenceTree
  readonly #requests: MirroredRequests
  /** by node: holders of a part of the first text on its edge, unless that is a block */
  readonly #parts: HeldParts
  /** total characters of all held prefixes, each once, and of the longest part held of each text behind them */
  heldLength = 0

  constructor(blocks: SharedBlocks, requests: MirroredRequests) {
    this.#requests = requests
    this.#parts = new HeldParts(requests)
    this.#marks = new PromptMarks(blocks)
    this.#ends = this.#marks.ends
    this.#tree = new SequenceTree({
      nodeColumns: [this.#holders, this.#densities, this.#parts.latest],
      placeColumns: [this.#marks.ends, this.#marks.marks],
      mayMerge: (node, child) =>
        this.#holders.at(node) === this.#holders.at(child) && this.#densities.at(node) === this.#densities.at(child),
      onSplit: (node) => this.#parts.latest.set(node, 0),
      onMerge: (node, child) => this.#parts.latest.set(child, this.#parts.latest.at(node)),
      onDrop: (start, length) => this.#marks.drop(start, length),
    })
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#tree.bytes
  }

  /** Adds a prompt of which nothing is held yet; `blocks`: the numbers of its blocks. Returns its end node. */
  add(prompt: MirroredPrompt, blocks: readonly (readonly number[])[]): number {
    const { end, known } = this.#tree.insert(prompt.symbols)
    this.#marks.put(prompt, blocks, known, this.#tree.placesTo(end))
    return end
  }

  /** Removes a prompt of which nothing is held. */
  remove(end: number): void {
    this.#tree.remove(end)
  }

  /**
   * Adds or deletes the part that a request holds of the text behind its last held prefix. It must be deleted before
   * what the request holds changes. A part of a block, or of what follows the last prefix, is not added; returns how
   * many characters that is.
   */
  countPart(request: MirroredRequest, change: 'add' | 'delete'): number {
    const heldLength = this.#requests.heldLengths.at(request)
    if (heldLength === 0) return 0
    const { parents, starts } = this.#tree
    let last = this.#requests.ends.at(request)
    let node = 0
    for (; last > 0 && this.#countUpTo(last, heldLength) === 0; last = parents.at(last)) node = last
    const length = heldLength - this.#lengthTo(last)
    if (node === 0 || length === 0 || this.#marks.marks.at(starts.at(node)) > 0) return length
    const before = this.#partLength(node)
    this.#parts[change](node, request)
    if (this.#holders.at(node) === 0) this.heldLength += this.#partLength(node) - before
    return 0
  }

  /** Changes the held prefix of one request from `before` to `after` characters. */
  hold(end: number, before: number, after: number, tokensPerCharacter: number | undefined): void {
    const { parents, lengths } = this.#tree
    const [from, to] = before < after ? [before, after] : [after, before]
    let node = end
    while (node > 0 && this.#countUpTo(node, to) === 0) node = parents.at(node)
    if (node <= 0) return
    const meant = this.#countUpTo(node, to)
    if (meant < lengths.at(node)) node = this.#tree.split(node, meant)
    const last = node
    let known = 0
    for (; node > 0 && known === 0; node = parents.at(node)) {
      known = this.#countUpTo(node, from)
      if (known === lengths.at(node)) break
      if (known > 0) this.#tree.split(node, known)
      this.#change(node, before < after ? 1 : -1, tokensPerCharacter)
    }
    this.#mergeAlong(last, node)
  }

  /** Returns the contexts of a prompt; those that end within its first `from` characters are left out. */
  contextsOf(end: number, from = -1): HeldContext[] {
    const { parents, starts, lengths } = this.#tree
    const contexts: HeldContext[] = []
    let [blocks, ends]: [number[], number[]] = [[], []]
    for (let node = end; node > 0; node = parents.at(node)) {
      const start = starts.at(node)
      for (let place = start + lengths.at(node) - 1; place >= start; place--) {
        const [at, mark] = [this.#ends.at(place), this.#marks.marks.at(place)]
        if (at <= from && blocks.length === 0) return contexts.reverse()
        if (mark > 0) {
          blocks.push(mark - 1)
          ends.push(at)
        } else if (mark < 0) {
          contexts.push({ scope: this.#marks.scopeOf(mark), blocks: blocks.reverse(), ends: ends.reverse() })
          blocks = []
          ends = []
        }
      }
    }
    return contexts.reverse()
  }

  /** Sets the density of what a request holds, because its tokens were counted. */
  count(end: number, heldLength: number, tokensPerCharacter: number): void {
    for (const node of this.#tree.pathTo(end)) {
      if (this.#countUpTo(node, heldLength) < this.#tree.lengths.at(node)) break
      this.#densities.set(node, tokensPerCharacter)
    }
    this.#mergeAlong(end, this.#tree.root)
  }

  /** Finds the longest held prefix of a prompt, with a part of the text behind it. */
  find({ prefixes, ends }: Pick<SentPrompt, 'prefixes' | 'ends'>): HeldPrefix {
    const tree = this.#tree
    let [length, density] = [0, 0]
    let node = tree.root
    for (let i = 0; i < prefixes.length; ) {
      node = tree.child(node, toPrefixSymbol(prefixes[i]!))
      if (node < 0 || this.#holders.at(node) === 0) break
      density = this.#densities.at(node)
      const [start, edge] = [tree.starts.at(node), tree.lengths.at(node)]
      let shared = 1
      while (shared < edge && i + shared < prefixes.length) {
        if (tree.symbolAt(start + shared) !== toPrefixSymbol(prefixes[i + shared]!)) break
        shared += 1
      }
      i += shared
      length = ends[i - 1]!
      if (shared < edge) break
    }
    const whole = { length, tokensPerCharacter: density || undefined, isPart: false }
    return node > 0 && this.#holders.at(node) === 0 ? this.#parts.extend(whole, node) : whole
  }

  /** Returns the node where the first `count` prefixes end; undefined if no prompt has them. Valid until a change. */
  nodeOf(prefixes: readonly ScopeId[], count: number): number | undefined {
    const { node, known } = this.#tree.follow(count, (i) => toPrefixSymbol(prefixes[i]!))
    return known < count ? undefined : node
  }

  /** Returns whether `node` is on the path to the prompt that ends at `end`. */
  leadsThrough(end: number, node: number): boolean {
    let at = end
    while (at > 0 && at !== node) at = this.#tree.parents.at(at)
    return at === node
  }

  /** Returns the length of the part of a held prefix that more than one request holds. */
  sharedLength(end: number, heldLength: number): number {
    let last = 0
    for (const node of this.#tree.pathTo(end)) {
      const count = this.#countUpTo(node, heldLength)
      if (count === 0 || this.#holders.at(node) < 2) break
      last = this.#ends.at(this.#tree.starts.at(node) + count - 1)
    }
    return last
  }

  /** Returns the symbols and the ends of a prompt's prefixes. */
  prefixesTo(end: number): Pick<MirroredPrompt, 'symbols' | 'ends'> {
    const ends = this.#tree.placesTo(end).map((place) => this.#ends.at(place))
    return { symbols: this.#tree.sequenceTo(end), ends }
  }

  /** Returns where the last prefix on a node's edge ends, in characters. */
  #lengthTo(node: number): number {
    return node > 0 ? this.#ends.at(this.#tree.starts.at(node) + this.#tree.lengths.at(node) - 1) : 0
  }

  /** Returns how many characters of the first text on a node's edge are held by those who hold only a part of it. */
  #partLength(node: number): number {
    return Math.max(0, this.#parts.heldLengthAt(node) - this.#lengthTo(this.#tree.parents.at(node)))
  }

  /** Adds or removes one holder of a node. */
  #change(node: number, by: 1 | -1, tokensPerCharacter: number | undefined): void {
    const length = this.#lengthTo(node) - this.#lengthTo(this.#tree.parents.at(node)) - this.#partLength(node)
    const holders = this.#holders.at(node) + by
    this.#holders.set(node, holders)
    if (by > 0 && holders === 1) this.heldLength += length
    if (by > 0 && this.#densities.at(node) === 0) this.#densities.set(node, tokensPerCharacter ?? 0)
    if (holders === 0) {
      this.heldLength -= length
      this.#densities.set(node, 0)
    }
  }

  /** Merges nodes where possible, from `last` up to its ancestor `first`. */
  #mergeAlong(last: number, first: number): void {
    let node = last
    for (let isOver = false; !isOver && node > 0; ) {
      const parent = this.#tree.parents.at(node)
      isOver = node === first
      this.#tree.mergeWithOnlyChild(node)
      node = parent
    }
  }

  /** Returns how many prefixes on a node's edge end within `limit` characters. */
  #countUpTo(node: number, limit: number): number {
    const [start, length] = [this.#tree.starts.at(node), this.#tree.lengths.at(node)]
    if (this.#ends.at(start + length - 1) <= limit) return length
    let count = 0
    while (this.#ends.at(start + count) <= limit) count++
    return count
  }
}
