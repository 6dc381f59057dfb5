import { BlockTable } from './block-table.ts'
import type { SentContext, SentPrompt } from './cache-event.ts'
import type { BlockId, ScopeId } from './context-block.ts'
import { floatColumn, wholeColumn } from './number-column.ts'
import { toPrefixName, toPrefixSymbol } from './prefix-symbol.ts'
import { SequenceTree } from './sequence-tree.ts'

/** The longest prefix of a prompt that is held. */
export interface HeldPrefix {
  /** characters */
  readonly length: number
  /** as a request that holds it was counted; undefined when none was */
  readonly tokensPerCharacter: number | undefined
}

/** What stands where a prefix ends: a scope begins (its number, negative, less one), a block ends (its number and one), or 0. */
type Code = number

/**
 * The prompts that were sent, and which of their prefixes are held by how many: a tree of prefixes, in which a prompt is
 * the node it ends at. A prefix of many prompts is kept once; by place lie 12 bytes: its symbol, where it ends, what stands
 * there.
 */
export class MirroredPrompts {
  readonly #ends = wholeColumn()
  readonly #codes = wholeColumn()
  /** by node: requests that hold all of it */
  readonly #holders = wholeColumn()
  /** by node: tokens per character as counted last of one that holds it; 0 when none was */
  readonly #densities = floatColumn()
  readonly #tree: SequenceTree
  readonly #blocks = new BlockTable()
  readonly #scopes = new BlockTable<ScopeId>()
  /** by block: its size in characters */
  readonly #sizes: number[] = []
  #heldLength = 0

  constructor() {
    this.#tree = new SequenceTree({
      nodeColumns: [this.#holders, this.#densities],
      placeColumns: [this.#ends, this.#codes],
      mayMerge: (node, child) =>
        this.#holders.array[node] === this.#holders.array[child] &&
        this.#densities.array[node] === this.#densities.array[child],
      onDrop: (start, length) => this.#releaseCodes(start, length),
    })
  }

  /** Characters of all prefixes that are held, each once. */
  get heldLength(): number {
    return this.#heldLength
  }

  /** An estimate of the memory it takes. */
  get bytes(): number {
    return this.#tree.bytes + this.#blocks.size * bytesPerBlock
  }

  /** Keeps a prompt, of which nothing is held yet; returns where it ends. */
  add({ prefixes, ends, contexts }: SentPrompt): number {
    const symbols = prefixes.map(toPrefixSymbol)
    const { end, known } = this.#tree.insert(symbols)
    const codes = known < prefixes.length ? this.#acquireCodes(symbols, ends, contexts, known) : []
    const last = this.#tree.starts.array[end]! + this.#tree.lengths.array[end]!
    for (let i = known; i < prefixes.length; i++) {
      const place = last - prefixes.length + i
      this.#ends.array[place] = ends[i]!
      this.#codes.array[place] = codes[i - known]!
    }
    return end
  }

  /** Lets go of a prompt of which nothing is held. */
  remove(end: number): void {
    this.#tree.remove(end)
  }

  /**
   * A request that held the first `before` characters of a prompt holds the first `after` from now on; returns how many
   * more lie within prefixes that end there.
   */
  hold(end: number, before: number, after: number, tokensPerCharacter: number | undefined): number {
    const { parents, lengths } = this.#tree
    const [from, to] = before < after ? [before, after] : [after, before]
    let node = end
    while (node > 0 && this.#countUpTo(node, to) === 0) node = parents.array[node]!
    if (node <= 0) return 0
    const meant = this.#countUpTo(node, to)
    if (meant < lengths.array[node]!) node = this.#tree.split(node, meant)
    const last = node
    let changed = 0
    let known = 0
    for (; node > 0 && known === 0; node = parents.array[node]!) {
      known = this.#countUpTo(node, from)
      if (known === lengths.array[node]) break
      if (known > 0) this.#tree.split(node, known)
      changed += this.#change(node, before < after ? 1 : -1, tokensPerCharacter)
    }
    this.#mergeAlong(last, node)
    return before < after ? changed : -changed
  }

  /**
   * Tells of the contexts of a prompt of which fewer blocks end within the first `to` characters than within the first
   * `from`: how many do, 0 included.
   */
  eachCut(end: number, from: number, to: number, tell: (scope: ScopeId, kept: number) => void): void {
    let [kept, lost] = [0, 0]
    this.#eachPlaceBack(end, (place) => {
      const at = this.#ends.array[place]!
      const code: Code = this.#codes.array[place]!
      if (code > 0 && at <= to) kept += 1
      else if (code > 0 && at <= from) lost += 1
      else if (code < 0) {
        if (lost > 0) tell(this.#scopes.idOf(-code - 1), kept)
        kept = 0
        lost = 0
      }
      return at > to || lost > 0
    })
  }

  /** The tokens of a request were counted: what it holds is as dense. */
  count(end: number, heldLength: number, tokensPerCharacter: number): void {
    for (const node of this.#tree.pathTo(end)) {
      if (this.#countUpTo(node, heldLength) < this.#tree.lengths.array[node]!) break
      this.#densities.array[node] = tokensPerCharacter
    }
    this.#mergeAlong(end, this.#tree.root)
  }

  /** The longest prefix of a prompt that is held. */
  find({ prefixes, ends }: Pick<SentPrompt, 'prefixes' | 'ends'>): HeldPrefix {
    const tree = this.#tree
    let [length, density] = [0, 0]
    let node = tree.root
    for (let i = 0; i < prefixes.length; ) {
      node = tree.child(node, toPrefixSymbol(prefixes[i]!))
      if (node < 0 || this.#holders.array[node] === 0) break
      density = this.#densities.array[node]!
      const [start, edge] = [tree.starts.array[node]!, tree.lengths.array[node]!]
      let shared = 1
      while (shared < edge && i + shared < prefixes.length) {
        if (tree.symbolAt(start + shared) !== toPrefixSymbol(prefixes[i + shared]!)) break
        shared += 1
      }
      i += shared
      length = ends[i - 1]!
      if (shared < edge) break
    }
    return { length, tokensPerCharacter: density === 0 ? undefined : density }
  }

  /** The node in which the first `count` prefixes of a prompt end, until the tree changes; undefined: no prompt has them. */
  nodeOf(prefixes: readonly ScopeId[], count: number): number | undefined {
    const tree = this.#tree
    let node = tree.root
    for (let i = 0; i < count; ) {
      node = tree.child(node, toPrefixSymbol(prefixes[i]!))
      if (node < 0) return undefined
      const start = tree.starts.array[node]!
      const end = Math.min(count, i + tree.lengths.array[node]!)
      for (const first = i; i < end; i++) {
        if (tree.symbolAt(start + i - first) !== toPrefixSymbol(prefixes[i]!)) return undefined
      }
    }
    return node
  }

  /** Whether a node lies on the way to where a prompt ends. */
  leadsThrough(end: number, node: number): boolean {
    let at = end
    while (at > 0 && at !== node) at = this.#tree.parents.array[at]!
    return at === node
  }

  /** How many of the first characters of a prompt more than one request holds. */
  sharedLength(end: number, heldLength: number): number {
    let last = 0
    for (const node of this.#tree.pathTo(end)) {
      const count = this.#countUpTo(node, heldLength)
      if (count === 0 || this.#holders.array[node]! < 2) break
      last = this.#ends.array[this.#tree.starts.array[node]! + count - 1]!
    }
    return last
  }

  /** A prompt of so many characters, as it was sent but for the names of its prefixes; sizes as the first had them. */
  promptAt(end: number, length: number): SentPrompt {
    const places = this.#placesTo(end)
    const prefixes = places.map((place) => toPrefixName(this.#tree.symbolAt(place)))
    const ends = places.map((place) => this.#ends.array[place]!)
    return { contexts: this.#contextsOf(places), prefixes, ends, length }
  }

  /** Whether it can tell of a prompt that ends there as it was sent, but for the names of its prefixes and sizes. */
  canTell(end: number, { contexts, ends }: SentPrompt): boolean {
    const places = this.#placesTo(end)
    if (places.length !== ends.length || places.some((place, i) => this.#ends.array[place] !== ends[i])) return false
    const marks = places.filter((place) => this.#codes.array[place] !== 0)
    let next = 0
    for (const context of contexts) {
      if (!this.#isScope(marks[next++], context)) return false
      for (let i = 0; i < context.blocks.length; i++) if (!this.#isBlock(marks[next++], context, i)) return false
    }
    return next === marks.length
  }

  /** The contexts of a prompt that ends there. */
  contextsAt(end: number): SentContext[] {
    return this.#contextsOf(this.#placesTo(end))
  }

  #contextsOf(places: readonly number[]): SentContext[] {
    const contexts: { scope: ScopeId; blocks: BlockId[]; sizes: number[]; ends: number[] }[] = []
    for (const place of places) {
      const code: Code = this.#codes.array[place]!
      if (code < 0) contexts.push({ scope: this.#scopes.idOf(-code - 1), blocks: [], sizes: [], ends: [] })
      const context = code > 0 ? contexts.at(-1) : undefined
      if (!context) continue
      context.blocks.push(this.#blocks.idOf(code - 1))
      context.sizes.push(this.#sizes[code - 1]!)
      context.ends.push(this.#ends.array[place]!)
    }
    return contexts
  }

  #placesTo(end: number): number[] {
    const places: number[] = []
    for (const node of this.#tree.pathTo(end)) {
      const start = this.#tree.starts.array[node]!
      for (let i = 0; i < this.#tree.lengths.array[node]!; i++) places.push(start + i)
    }
    return places
  }

  /** One request more or fewer holds a node; returns how many characters that are. */
  #change(node: number, by: 1 | -1, tokensPerCharacter: number | undefined): number {
    const { starts, lengths, parents } = this.#tree
    const parent = parents.array[node]!
    const before = parent > 0 ? this.#ends.array[starts.array[parent]! + lengths.array[parent]! - 1]! : 0
    const length = this.#ends.array[starts.array[node]! + lengths.array[node]! - 1]! - before
    const holders = this.#holders.array[node]! + by
    this.#holders.array[node] = holders
    if (by > 0 && holders === 1) this.#heldLength += length
    if (by > 0 && this.#densities.array[node] === 0) this.#densities.array[node] = tokensPerCharacter ?? 0
    if (holders === 0) {
      this.#heldLength -= length
      this.#densities.array[node] = 0
    }
    return length
  }

  /** Merges what may be from a node up to another one above it. */
  #mergeAlong(last: number, first: number): void {
    let node = last
    for (let isOver = false; !isOver && node > 0; ) {
      const parent = this.#tree.parents.array[node]!
      isOver = node === first
      this.#tree.mergeWithOnlyChild(node)
      node = parent
    }
  }

  /** The places of a prompt, the last one first, while `visit` says to go on. */
  #eachPlaceBack(end: number, visit: (place: number) => boolean): void {
    for (let node = end; node > 0; node = this.#tree.parents.array[node]!) {
      const start = this.#tree.starts.array[node]!
      for (let place = start + this.#tree.lengths.array[node]! - 1; place >= start; place--) {
        if (!visit(place)) return
      }
    }
  }

  /** How many prefixes of a node's edge end within so many characters. */
  #countUpTo(node: number, limit: number): number {
    const [start, length] = [this.#tree.starts.array[node]!, this.#tree.lengths.array[node]!]
    const ends = this.#ends.array
    if (ends[start + length - 1]! <= limit) return length
    let count = 0
    while (ends[start + count]! <= limit) count++
    return count
  }

  /** What stands where the prefixes from `known` on end; contexts that no prefixes tell of are left out. */
  #acquireCodes(
    symbols: readonly number[],
    ends: readonly number[],
    contexts: readonly SentContext[],
    known: number,
  ): Code[] {
    const codes = new Array<Code>(symbols.length - known).fill(0)
    const put = (at: number, acquire: () => Code): void => {
      if (at >= known && at < symbols.length) codes[at - known] = acquire()
    }
    let at = 0
    for (const context of contexts) {
      const scope = toPrefixSymbol(context.scope)
      at = firstFrom(at, symbols.length, (place) => symbols[place] === scope)
      put(at, () => -this.#scopes.acquire(context.scope) - 1)
      for (let i = 0; i < context.blocks.length; i++) {
        at = firstFrom(at + 1, symbols.length, (place) => ends[place]! >= context.ends[i]!)
        put(at, () => this.#acquireBlock(context, i) + 1)
      }
      at += 1
    }
    return codes
  }

  #isScope(place: number | undefined, { scope }: SentContext): boolean {
    const code: Code = place === undefined ? 0 : this.#codes.array[place]!
    return code < 0 && this.#scopes.idOf(-code - 1) === scope
  }

  /** Whether a block of a context stands there; its size is alike, whoever sent it. */
  #isBlock(place: number | undefined, { blocks, ends }: SentContext, i: number): boolean {
    if (place === undefined || this.#ends.array[place] !== ends[i]) return false
    const code: Code = this.#codes.array[place]!
    return code > 0 && this.#blocks.idOf(code - 1) === blocks[i]
  }

  #acquireBlock({ blocks, sizes }: SentContext, i: number): number {
    const block = this.#blocks.acquire(blocks[i]!)
    // as the first has it: one content has one size, but for how it is numbered
    if ((this.#sizes[block] ?? none) === none) this.#sizes[block] = sizes[i]!
    return block
  }

  #releaseCodes(start: number, length: number): void {
    for (let place = start; place < start + length; place++) {
      const code: Code = this.#codes.array[place]!
      if (code > 0 && this.#blocks.release(code - 1)) this.#sizes[code - 1] = none
      if (code < 0) this.#scopes.release(-code - 1)
    }
  }
}

/** The first place of those from `from` on of which something is so; `end` when it is of none. */
function firstFrom(from: number, end: number, isSo: (place: number) => boolean): number {
  let place = from
  while (place < end && !isSo(place)) place++
  return place
}

const none = -1
/** of the table of blocks; measured with 22 characters a block */
const bytesPerBlock = 130
