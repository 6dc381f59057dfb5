import type { Context, ReplicaId } from './context-block.ts'

/** One life of a replica: what was processed in an earlier one is gone. */
interface Life {
  readonly replica: ReplicaId
}

/**
 * Which replica was the last to process each block, for agent-aware routing (ContextPilot §7.2). Tenants never meet.
 * Bounded by the number of blocks; those that were not processed for the longest time go first. O(1) per block.
 */
export class ProcessedBlocks {
  readonly #maxBlocks: number
  readonly #lives = new Map<ReplicaId, Life>()
  readonly #last = new Map<string, Life>()

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks
  }

  /** How many blocks are remembered. */
  get size(): number {
    return this.#last.size
  }

  /** A replica processes a tenant's blocks. */
  note(replica: ReplicaId, tenant: string, blocks: Context): void {
    let life = this.#lives.get(replica)
    if (!life) {
      life = { replica }
      this.#lives.set(replica, life)
    }
    for (const block of blocks) {
      const key = keyOf(tenant, block)
      this.#last.delete(key)
      this.#last.set(key, life)
    }
    for (const key of this.#last.keys()) {
      if (this.#last.size <= this.#maxBlocks) break
      this.#last.delete(key)
    }
  }

  /** Of a tenant's blocks, the sum of the sizes of those that each replica was the last to process. */
  sizesOn(tenant: string, blocks: Context, sizes: readonly number[]): ReadonlyMap<ReplicaId, number> {
    const sums = new Map<ReplicaId, number>()
    for (const [i, block] of blocks.entries()) {
      const life = this.#last.get(keyOf(tenant, block))
      if (!life || this.#lives.get(life.replica) !== life) continue
      sums.set(life.replica, (sums.get(life.replica) ?? 0) + sizes[i]!)
    }
    return sums
  }

  /** A replica has lost all it held: it was cleared, or began anew. */
  forget(replica: ReplicaId): void {
    this.#lives.delete(replica)
  }
}

/** No block id has a space in it. */
function keyOf(tenant: string, block: string): string {
  return `${block} ${tenant}`
}
