import type { MirroredPrompt, SentPrompt, SharedPrompt } from '../cache-event.ts'
import type { SharedBlocks } from '../columns/block-table.ts'
import { FloatColumn, WholeColumn } from '../columns/number-column.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import { SequenceTree } from '../columns/sequence-tree.ts'
import type { ScopeId } from '../context-block.ts'
import { HeldParts, type HeldPrefix } from './held-parts.ts'
import type { MirroredRequest, MirroredRequests } from './mirrored-requests.ts'
import { PromptMarks } from './prompt-marks.ts'

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
  #heldLength = 0

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

  /** Total characters of all held prefixes, each once, and of the longest part held of each text behind them. */
  get heldLength(): number {
    return this.#heldLength
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#tree.bytes
  }

  /**
   * Adds a prompt of which nothing is held yet. Returns its end node; `isTold` says whether `promptAt` can reproduce
   * the prompt, apart from block sizes.
   */
  add(prompt: SharedPrompt): { readonly end: number; readonly isTold: boolean } {
    const { end, known } = this.#tree.insert(prompt.symbols)
    return { end, isTold: this.#marks.put(prompt, known, this.#placesTo(end)) }
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
    if (this.#holders.at(node) === 0) this.#heldLength += this.#partLength(node) - before
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

  /**
   * Reports every context of a prompt that has fewer blocks ending within the first `to` characters than within the
   * first `from`, with the number of blocks that remain, which may be 0.
   */
  eachCut(end: number, from: number, to: number, tell: (scope: ScopeId, kept: number) => void): void {
    const { parents, starts, lengths } = this.#tree
    // with nothing held, not even an empty block at position 0 counts
    const last = to - Number(to === 0)
    let [kept, lost] = [0, 0]
    for (let node = end; node > 0; node = parents.at(node)) {
      const start = starts.at(node)
      for (let place = start + lengths.at(node) - 1; place >= start; place--) {
        const at = this.#ends.at(place)
        if (at <= last && lost === 0) return
        const mark = this.#marks.marks.at(place)
        kept += Number(mark > 0 && at <= last)
        lost += Number(mark > 0 && at > last && at <= from)
        if (mark >= 0) continue
        if (lost > 0) tell(this.#marks.scopeOf(mark), kept)
        kept = 0
        lost = 0
      }
    }
  }

  /**
   * Reports every context of a prompt that has more blocks ending within the first `to` characters than within the
   * first `from`, with the numbers of all blocks within `to`.
   */
  eachGrown(end: number, from: number, to: number, tell: (scope: ScopeId, blocks: readonly number[]) => void): void {
    const { parents, starts, lengths } = this.#tree
    const last = from - Number(from === 0)
    let blocks: number[] = []
    let node = end
    let place = starts.at(node) + lengths.at(node) - 1
    while (node > 0) {
      const at = this.#ends.at(place)
      if (at <= last && blocks.length === 0) return
      const mark = this.#marks.marks.at(place)
      if (mark > 0 && at <= to) blocks.push(mark - 1)
      if (mark < 0) {
        if (blocks.length > 0) tell(this.#marks.scopeOf(mark), blocks.reverse())
        blocks = []
      }
      if (place > starts.at(node)) place -= 1
      else {
        node = parents.at(node)
        place = starts.at(node) + lengths.at(node) - 1
      }
    }
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
    const tree = this.#tree
    let node = tree.root
    for (let i = 0; i < count; ) {
      node = tree.child(node, toPrefixSymbol(prefixes[i]!))
      if (node < 0) return undefined
      const start = tree.starts.at(node)
      const end = Math.min(count, i + tree.lengths.at(node))
      for (const first = i; i < end; i++) {
        if (tree.symbolAt(start + i - first) !== toPrefixSymbol(prefixes[i]!)) return undefined
      }
    }
    return node
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

  /** Reproduces a sent prompt of `length` characters. Block sizes are those of the first user of each block. */
  promptAt(end: number, length: number): MirroredPrompt {
    const places = this.#placesTo(end)
    const symbols = places.map((place) => this.#tree.symbolAt(place))
    const ends = places.map((place) => this.#ends.at(place))
    return { contexts: this.#marks.contextsAt(places), symbols, ends, length }
  }

  #placesTo(end: number): number[] {
    const places: number[] = []
    for (const node of this.#tree.pathTo(end)) {
      const start = this.#tree.starts.at(node)
      for (let i = 0; i < this.#tree.lengths.at(node); i++) places.push(start + i)
    }
    return places
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
    if (by > 0 && holders === 1) this.#heldLength += length
    if (by > 0 && this.#densities.at(node) === 0) this.#densities.set(node, tokensPerCharacter ?? 0)
    if (holders === 0) {
      this.#heldLength -= length
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
