import type { BlockId, Context } from '#index/context-block.ts'
import type { HotBlock, HotBlocks } from '../telemetry/hot-blocks.ts'
import { MemoryHotBlocks } from '../telemetry/memory-hot-blocks.ts'

/** What is to be written of counts. */
export interface HotBlocksBatch {
  /** counts that Redis should have at least, lowest first: it may have lost them */
  readonly raised: readonly HotBlock[]
  /** counts that come on top */
  readonly added: readonly HotBlock[]
}

/**
 * What one proxy knows of how often blocks were asked for: of itself all, of all proxies what Redis answered last. What
 * is in flight counts until it is known to be in an answer, or has not come to pass.
 */
export class HotBlocksLedger implements HotBlocks {
  readonly #capacity: number
  /** all that was asked for here */
  #own: MemoryHotBlocks
  /** of that, what has not been sent to Redis */
  #pending: MemoryHotBlocks
  /** of that, what was sent to it, and may or may not be there; it is not in `#seen` */
  #sent: MemoryHotBlocks
  /** the hottest of all proxies, as Redis answered last */
  #seen: ReadonlyMap<BlockId, HotBlock> = new Map()
  #batch: HotBlocksBatch | undefined
  #sentBefore: MemoryHotBlocks

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#own = this.#sum()
    this.#pending = this.#sum()
    this.#sent = this.#sum()
    this.#sentBefore = this.#sent
  }

  /** Whether there is something to be added. */
  get hasPending(): boolean {
    return this.#pending.size > 0
  }

  get load(): number {
    return this.#own.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    this.#own.note(blocks, sizes)
    this.#pending.note(blocks, sizes)
  }

  top(length: number): HotBlock[] {
    return this.#blocks(this.#own.top(length))
      .map(({ block, size }) => ({ block, count: this.#countOf(block), size }))
      .sort((a, b) => b.count - a.count)
      .slice(0, length)
  }

  clear(): void {
    this.#own = this.#sum()
    this.#pending = this.#sum()
    this.#sent = this.#sum()
    this.#seen = new Map()
    this.#batch = undefined
  }

  /** Takes what is to be written next, with all that Redis may have lost if it `mustRaise`. */
  take(mustRaise: boolean): HotBlocksBatch {
    const raised = mustRaise ? this.#known() : []
    const added = [...this.#pending]
    this.#sentBefore = this.#sent
    this.#sent = this.#sent.size === 0 ? this.#pending : this.#sum(this.#sent, this.#pending)
    this.#pending = this.#sum()
    this.#batch = { raised, added }
    return this.#batch
  }

  /** All of a batch is in what Redis answered, unless all was cleared meanwhile. */
  settle(batch: HotBlocksBatch, seen: ReadonlyMap<BlockId, HotBlock>): void {
    if (batch !== this.#batch) return
    this.#sent = this.#sum()
    this.#seen = seen
  }

  /** Nothing of a batch was done: it is to be added still. */
  giveBack(batch: HotBlocksBatch): void {
    if (batch !== this.#batch) return
    this.#sent = this.#sentBefore
    this.#pending.add(batch.added)
  }

  #countOf(block: BlockId): number {
    return Math.max(this.#own.countOf(block), this.#writtenOf(block) + this.#pending.countOf(block))
  }

  #writtenOf(block: BlockId): number {
    return (this.#seen.get(block)?.count ?? 0) + this.#sent.countOf(block)
  }

  /** What Redis should have by now, the hottest last: when there are too many the first ones go. */
  #known(): HotBlock[] {
    return this.#blocks(this.#own)
      .map(({ block, size }) => {
        const own = this.#own.countOf(block) - this.#pending.countOf(block)
        return { block, size, count: Math.max(own, this.#writtenOf(block)) }
      })
      .filter(({ count }) => count > 0)
      .sort((a, b) => a.count - b.count)
      .slice(-this.#capacity)
  }

  /** Each once, those of other proxies too. */
  #blocks(own: Iterable<HotBlock>): HotBlock[] {
    const blocks = new Map(this.#seen)
    for (const hot of own) blocks.set(hot.block, hot)
    return [...blocks.values()]
  }

  #sum(...parts: readonly MemoryHotBlocks[]): MemoryHotBlocks {
    const sum = new MemoryHotBlocks(this.#capacity)
    for (const part of parts) sum.add(part)
    return sum
  }
}
