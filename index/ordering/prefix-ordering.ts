import { SharedBlocks } from '../columns/block-table.ts'
import { WholeColumn } from '../columns/number-column.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { BlockId, Context, RequestId, RequestKey } from '../context-block.ts'
import { DemandHistory, HistoryWindow, type SimilarRequest } from './demand-history.ts'
import { findLargestPrefix } from './find-largest-prefix.ts'
import type { Ordering, OrderingIndex } from './ordering-index.ts'
import { Placement } from './placement.ts'
import { type PrefixNode, PrefixTree } from './prefix-tree.ts'
import { seedPrefix } from './seed-prefix.ts'

interface PrefixOrderingOptions {
  /** maximum number of contexts; the oldest are dropped first */
  readonly maxContexts?: number
  /** bounds the past requests used to predict future ones; may be shared with other indexes */
  readonly history?: HistoryWindow | undefined
  /** may be shared with other indexes and with callers of `insertNumbers` */
  readonly blocks?: SharedBlocks | undefined
}

/** The number of a held context. Its end node in the tree and its send time are in columns. */
type HeldContext = number

/**
 * A prefix at least as old as recently evicted ones counts a quarter less; for a younger one, in proportion to its age.
 */
const mostDoubt = 0.25
// measured on Node 20 with 1,000 to 1,000,000 contexts of 5 to 100 blocks: within 15 % of the heap's growth
const bytesPerAskedBlock = 200
const bytesPerPastRequest = 300
const bytesPerPlace = 8

/**
 * Ordering by the prefixes that were really sent. The paper's search compares sets and descends greedily from child to
 * child, but an engine reuses only a prefix in exactly the same order. So, of all held prefixes whose blocks are all in
 * the context, the one that saves the most prefill goes first (find-largest-prefix.ts). The remaining blocks follow in
 * an order that later requests are likely to share (seed-prefix.ts). If nothing is known about them, they stay in rank
 * order. Equal histories give equal orders.
 */
export class PrefixOrdering<Request extends RequestKey = RequestId> implements OrderingIndex<Request> {
  readonly #maxContexts: number
  readonly #blocks: SharedBlocks
  readonly #sharesBlocks: boolean
  /** each place of a block in the tree counts as one use of the block */
  readonly #tree = new PrefixTree((block) => this.#blocks.release(block))
  readonly #history: DemandHistory
  readonly #ends = new WholeColumn()
  /** send time, in requests */
  readonly #sentAt = new WholeColumn()
  readonly #held = new RequestTable<Request>([this.#ends, this.#sentAt])
  #historyBlocks = 0
  #now = 0
  /** average age of recent evictions, in requests; before the first eviction, no prefix is in doubt */
  #evictionAge = Number.POSITIVE_INFINITY

  constructor(options: PrefixOrderingOptions = {}) {
    this.#sharesBlocks = options.blocks !== undefined
    this.#blocks = options.blocks ?? new SharedBlocks()
    this.#maxContexts = options.maxContexts ?? 1_000_000
    this.#history = new DemandHistory(options.history ?? new HistoryWindow(), (blocks) => {
      this.#historyBlocks -= blocks.length
      for (const block of blocks) this.#blocks.release(block)
    })
  }

  get nodes(): number {
    return this.#tree.nodes
  }

  get requests(): number {
    return this.#held.size
  }

  /** Estimated memory. */
  get bytes(): number {
    return (
      this.#tree.bytes +
      this.#held.bytes +
      (this.#sharesBlocks ? 0 : this.#blocks.bytes) +
      this.#history.blocks * bytesPerAskedBlock +
      this.#history.requests * bytesPerPastRequest +
      this.#historyBlocks * bytesPerPlace
    )
  }

  /** O(visits + 64 · (n + 16 · n)) for n blocks. Visits are the nodes whose paths are in the context, at most 4,096. */
  order(context: Context, sizes: readonly number[]): Ordering {
    const blocks = context.map((id) => this.#blocks.find(id))
    const placement = new Placement(blocks, this.#blocks.firstRank)
    const query = { blocks: [...new Set(blocks)], placement, sizes: this.#blocks.sizes, stay: this.#stay }
    for (const block of findLargestPrefix(this.#tree, query)) placement.tryPlace(block)
    this.#seedPrefix(context, blocks, sizes, placement)
    placement.close()
    const { order } = placement
    const { node } = this.#tree.follow(order.length, (place) => blocks[order[place]!]!)
    return { order, searchPath: this.#tree.slotsTo(node) }
  }

  /**
   * O(n). For a request already held, this replaces its context and does not count as demand again. `isAsked` is false
   * if a request that no longer held anything is stored again, which must not count as demand either.
   */
  insert(context: Context, sizes: readonly number[], request: Request, isAsked = true): void {
    const sequence = this.#blocks.acquireAll(context, sizes)
    this.insertNumbers(sequence, request, isAsked)
    for (const block of sequence) this.#blocks.release(block)
  }

  /** Returns how many of the latest requests with a context's first block had all of its first 1, 2, … blocks. */
  demandOf(context: Context): number[] {
    let requests: readonly SimilarRequest[] | undefined
    return context.map((id) => {
      const block = this.#blocks.find(id)
      if (block < 0) requests = []
      requests = requests?.filter(({ blocks }) => blocks.includes(block)) ?? this.#history.speakersOf(block)
      return requests.length
    })
  }

  /** Removes all contexts; the demand history stays. */
  clear(): void {
    this.#tree.clear()
    this.#held.clear()
  }

  /** Like `insert`, with blocks given by number. The caller must hold a use of each block during the call. */
  insertNumbers(blocks: readonly number[], request: Request, isAsked: boolean): void {
    const held = this.#held.find(request)
    if (held !== undefined) {
      this.#observeEviction(held)
      this.#tree.remove(this.#ends.at(held))
    } else if (isAsked) this.#record(blocks)
    const { end, known } = this.#tree.insertAt(held === undefined ? this.#now : this.#sentAt.at(held), blocks)
    for (let i = known; i < blocks.length; i++) this.#blocks.retain(blocks[i]!)
    this.#ends.set(held ?? this.#add(request), end)
    while (this.#held.size > this.#maxContexts) this.#forget(this.#held.oldest()!)
  }

  /** Keeps only the first `length` blocks that a request holds: at least one, and fewer than it held. */
  cut(request: Request, length: number): void {
    const held = this.#held.find(request)
    if (held === undefined) return
    this.#observeEviction(held)
    this.#ends.set(held, this.#tree.cut(this.#ends.at(held), length))
  }

  remove(request: Request): boolean {
    const held = this.#held.find(request)
    if (held === undefined) return false
    this.#observeEviction(held)
    this.#forget(request)
    return true
  }

  pathOf(request: Request): number[] | undefined {
    const held = this.#held.find(request)
    return held === undefined ? undefined : this.#tree.slotsTo(this.#ends.at(held))
  }

  readonly #stay = (node: PrefixNode): number =>
    1 - mostDoubt * Math.min(1, (this.#now - this.#tree.lastUsed.at(node)) / this.#evictionAge)

  /** Returns a function that gives the past requests with the block at a rank. */
  #seedPrefix(context: Context, numbers: readonly number[], sizes: readonly number[], placement: Placement): void {
    const ranks: number[] = []
    const { indexOfBlock } = this.#blocks
    const unknown = new Map<BlockId, number>()
    const indexOfRank = numbers.map((block, rank) => {
      const seen = block < 0 ? unknown.get(context[rank]!) : indexOfBlock[block]
      if (seen) return seen - 1
      const index = ranks.push(rank)
      if (block < 0) unknown.set(context[rank]!, index)
      else indexOfBlock[block] = index
      return index - 1
    })
    const blocks = ranks.map((rank) => numbers[rank]!)
    const sizesOfBlocks = ranks.map((rank) => sizes[rank]!)
    const speakers = this.#history.weigh(blocks)
    seedPrefix({ blocks, ranks, sizes: sizesOfBlocks, speakers, indexOfRank, indexOfBlock }, placement)
    for (const block of blocks) if (block >= 0) indexOfBlock[block] = 0
  }

  #record(sequence: readonly number[]): void {
    this.#now += 1
    const blocks = [...new Set(sequence)]
    for (const block of blocks) this.#blocks.retain(block)
    this.#historyBlocks += blocks.length
    this.#history.record(blocks)
  }

  /** Updates the running mean of the ages of evicted contexts. An engine evicts the least recently used. */
  #observeEviction(held: HeldContext): void {
    const age = this.#now - this.#sentAt.at(held)
    if (age === 0) return
    const before = this.#evictionAge
    this.#evictionAge = before === Number.POSITIVE_INFINITY ? age : before + (age - before) / 16
  }

  #add(request: Request): HeldContext {
    const held = this.#held.add(request)
    this.#sentAt.set(held, this.#now)
    return held
  }

  #forget(request: Request): void {
    this.#tree.remove(this.#ends.at(this.#held.delete(request)!))
  }
}
