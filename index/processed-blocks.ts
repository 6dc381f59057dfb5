import type { BlockId, Context, ReplicaId } from './context-block.ts'

/** One life of a replica: what was processed in an earlier one is gone. */
interface Life {
  readonly replica: ReplicaId
  /** itself: most blocks are processed by one replica alone, and need no list of their own */
  readonly alone: readonly Life[]
}

/**
 * Which replicas have processed each block, and which was the last to, for agent-aware routing (ContextPilot §7.2).
 * Tenants never meet. Bounded by the number of blocks; those that were not processed for the longest time go first.
 * O(replicas) per block.
 */
export class ProcessedBlocks {
  readonly #maxBlocks: number
  readonly #lives = new Map<ReplicaId, Life>()
  /** by block; the last to process it stands last */
  readonly #by = new Map<string, readonly Life[]>()

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks
  }

  /** How many blocks are remembered. */
  get size(): number {
    return this.#by.size
  }

  /** A replica processes a tenant's blocks. */
  note(replica: ReplicaId, tenant: string, blocks: Context): void {
    const life = this.#lifeOf(replica)
    for (const block of blocks) {
      const key = keyOf(tenant, block)
      const others = this.#by.get(key)?.filter((other) => other !== life && this.#isAlive(other)) ?? []
      this.#by.delete(key)
      this.#by.set(key, others.length === 0 ? life.alone : [...others, life])
    }
    for (const key of this.#by.keys()) {
      if (this.#by.size <= this.#maxBlocks) break
      this.#by.delete(key)
    }
  }

  /** Whether a replica has processed a tenant's block. */
  has(replica: ReplicaId, tenant: string, block: BlockId): boolean {
    const life = this.#lives.get(replica)
    return life !== undefined && (this.#by.get(keyOf(tenant, block))?.includes(life) ?? false)
  }

  /** Of a tenant's blocks, the sum of the sizes of those that each replica was the last to process. */
  sizesOn(tenant: string, blocks: Context, sizes: readonly number[]): ReadonlyMap<ReplicaId, number> {
    const sums = new Map<ReplicaId, number>()
    for (const [i, block] of blocks.entries()) {
      const life = this.#by.get(keyOf(tenant, block))?.at(-1)
      if (!life || !this.#isAlive(life)) continue
      sums.set(life.replica, (sums.get(life.replica) ?? 0) + sizes[i]!)
    }
    return sums
  }

  /** A replica has lost all it held: it was cleared, or began anew. */
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

/** No block id has a space in it. */
function keyOf(tenant: string, block: string): string {
  return `${block} ${tenant}`
}
