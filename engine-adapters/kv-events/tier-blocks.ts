import type { BlockName } from './content-naming.ts'
import type { BlockHash } from './kv-event.ts'

interface TierBlock {
  readonly hash: BlockHash
  /** the moment at which it came */
  readonly since: number
}

/** The newest blocks of a tier besides the device. Older ones are dropped, because not every tier says what it has lost. */
export class TierBlocks {
  readonly #blocks = new Map<BlockName, TierBlock>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(name: BlockName): boolean {
    return this.#blocks.has(name)
  }

  /** Whether a block was there before the moment `before`. */
  serves(name: BlockName, before: number = Number.POSITIVE_INFINITY): boolean {
    const block = this.#blocks.get(name)
    return block !== undefined && block.since < before
  }

  /** Adds a block. Returns the oldest one, with its hash, if there is no room for both. */
  store(name: BlockName, hash: BlockHash, moment: number): { name: BlockName; hash: BlockHash } | undefined {
    const since = this.#blocks.get(name)?.since ?? moment
    this.#blocks.delete(name)
    this.#blocks.set(name, { hash, since })
    if (this.#blocks.size <= this.#most) return undefined
    const [[oldest, block]] = this.#blocks as Iterable<[BlockName, TierBlock]> as [[BlockName, TierBlock]]
    this.#blocks.delete(oldest)
    return { name: oldest, hash: block.hash }
  }

  remove(name: BlockName): void {
    this.#blocks.delete(name)
  }

  clear(): void {
    this.#blocks.clear()
  }
}
