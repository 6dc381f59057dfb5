import type { BlockId, Context, ReplicaId } from './context-block.ts'

/** One lifetime of a replica. Whatever it processed in an earlier one is gone. */
interface Life {
  readonly replica: ReplicaId
  /** this life only: most blocks are processed by a single replica, so they share this list */
  readonly alone: readonly Life[]
}

/**
 * Which replicas have processed each block, and which did so last, for agent-aware routing (ContextPilot §7.2). Whoever
 * shares nothing, such as two tenants, is kept apart. The number of blocks is bounded; the least recently processed ones
 * are dropped first. O(replicas) per block.
 */
export class ProcessedBlocks {
  readonly #maxBlocks: number
  readonly #lives = new Map<ReplicaId, Life>()
  /** by block; the replica that processed it last is at the end */
  readonly #by = new Map<string, readonly Life[]>()

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks
  }

  /** How many blocks are remembered. */
  get size(): number {
    return this.#by.size
  }

  /** Records that a replica processes a sharer's blocks. */
  note(replica: ReplicaId, sharer: string, blocks: Context): void {
    const life = this.#lifeOf(replica)
    for (const block of blocks) {
      const key = keyOf(sharer, block)
      const known = this.#by.get(key) ?? life.alone
      const others = known === life.alone ? [] : known.filter((other) => other !== life && this.#isAlive(other))
      this.#by.delete(key)
      this.#by.set(key, others.length === 0 ? life.alone : [...others, life])
    }
    for (const key of this.#by.keys()) {
      if (this.#by.size <= this.#maxBlocks) break
      this.#by.delete(key)
    }
  }

  /** Returns whether a replica has processed a sharer's block. */
  has(replica: ReplicaId, sharer: string, block: BlockId): boolean {
    const life = this.#lives.get(replica)
    return life !== undefined && (this.#by.get(keyOf(sharer, block))?.includes(life) ?? false)
  }

  /** Returns, for each replica, the total size of the given blocks that it was the last to process. */
  sizesOn(sharer: string, blocks: Context, sizes: readonly number[]): ReadonlyMap<ReplicaId, number> {
    const sums = new Map<ReplicaId, number>()
    for (const [i, block] of blocks.entries()) {
      const life = this.#by.get(keyOf(sharer, block))?.at(-1)
      if (!life || !this.#isAlive(life)) continue
      sums.set(life.replica, (sums.get(life.replica) ?? 0) + sizes[i]!)
    }
    return sums
  }

  /** Forgets everything a replica processed, because it was cleared or restarted. */
  forget(replica: ReplicaId): void {
    this.#lives.delete(replica)
  }

  #isAlive(life: Life): boolean {
    return this.#lives.get(life.replica) === life
  }

  #lifeOf(replica: ReplicaId): Life {
    const known = this.#lives.get(replica)
    if (known) return known
    const alone: Life[] = []
    const life = { replica, alone }
    alone.push(life)
    this.#lives.set(replica, life)
    return life
  }
}

/** The key is unambiguous because block ids contain no spaces. */
function keyOf(sharer: string, block: string): string {
  return `${block} ${sharer}`
}
