import type { BlockId, Context, ReplicaId } from './context-block.ts'

/** One lifetime of a replica. Whatever it processed in an earlier one is gone. */
interface Life {
  readonly replica: ReplicaId
  /** only this life, for anybody: blocks that no other replica processed share this list */
  readonly alone: readonly Processing[]
}

/** That a replica has processed a block. */
interface Processing {
  readonly life: Life
  /** for whom; undefined: for several users, or for anybody */
  readonly user: string | undefined
}

/**
 * Which replicas have processed each block, for whom, and which did so last, for agent-aware routing (ContextPilot §7.2).
 * Whoever shares nothing, such as two tenants, is kept apart. For each replica a block keeps at most one user: the only
 * one it was processed for. The number of blocks is bounded; the least recently processed ones are dropped first.
 * O(replicas) per block.
 */
export class ProcessedBlocks {
  readonly #maxBlocks: number
  readonly #lives = new Map<ReplicaId, Life>()
  /** by block; the replica that processed it last is at the end */
  readonly #by = new Map<string, readonly Processing[]>()

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks
  }

  /** How many blocks are remembered. */
  get size(): number {
    return this.#by.size
  }

  /** Records that a replica processes a sharer's blocks. `user`: for this one only; missing: for anybody. */
  note(replica: ReplicaId, sharer: string, blocks: Context, user?: string): void {
    const life = this.#lifeOf(replica)
    const forUser = user === undefined ? life.alone : [{ life, user }]
    for (const block of blocks) {
      const key = keyOf(sharer, block)
      const known = this.#by.get(key) ?? []
      const before = known.find((one) => one.life === life)
      const now = before && before.user !== user ? life.alone : forUser
      const others = known.filter((one) => one !== before && this.#isAlive(one.life))
      this.#by.delete(key)
      this.#by.set(key, others.length === 0 ? now : [...others, ...now])
    }
    for (const key of this.#by.keys()) {
      if (this.#by.size <= this.#maxBlocks) break
      this.#by.delete(key)
    }
  }

  /** Returns whether a replica has processed a sharer's block; with a user, for this one, for several or for anybody. */
  has(replica: ReplicaId, sharer: string, block: BlockId, user?: string): boolean {
    const life = this.#lives.get(replica)
    const processing = life && this.#by.get(keyOf(sharer, block))?.find((one) => one.life === life)
    if (!processing) return false
    return user === undefined || processing.user === undefined || processing.user === user
  }

  /** Returns, for each replica, the total size of the given blocks that it was the last to process. */
  sizesOn(sharer: string, blocks: Context, sizes: readonly number[]): ReadonlyMap<ReplicaId, number> {
    const sums = new Map<ReplicaId, number>()
    for (const [i, block] of blocks.entries()) {
      const life = this.#by.get(keyOf(sharer, block))?.at(-1)?.life
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
    const alone: Processing[] = []
    const life = { replica, alone }
    alone.push({ life, user: undefined })
    this.#lives.set(replica, life)
    return life
  }
}

/** The key is unambiguous because block ids contain no spaces. */
function keyOf(sharer: string, block: string): string {
  return `${block} ${sharer}`
}
