import type { ReplicaId } from '#index/context-block.ts'
import { ModelRouter } from './model-router.ts'
import type { Replica } from './replica.ts'

/** More tokens to prefill than these, and a replica is not free: a second or two for most engines. */
const mostTokensAhead = 16_384
const none: ReadonlySet<ReplicaId> = new Set()

/** The choice of replicas for routing a request. */
export type ReplicaChoice = Pick<ReplicaSet, 'candidates' | 'nextTurn'>

/** The replicas that share the requests. Engines may come and go: `put` replaces them. */
export class ReplicaSet {
  /** all replicas, in the order of the configuration; those that leave are last */
  all: readonly Replica[] = []
  readonly models: ModelRouter<Replica> = new ModelRouter(() => this.#staying)
  #replicas: ReadonlyMap<ReplicaId, Replica> = new Map()
  /** those of which the engine is not about to go, nor has only just come */
  #staying: readonly Replica[] = []
  #turn = 0

  constructor(replicas: readonly Replica[]) {
    this.put(replicas)
  }

  /** Replaces the replicas; call it again when one begins or ceases to leave, or has joined. */
  put(replicas: readonly Replica[]): void {
    this.#replicas = new Map(replicas.map((replica) => [replica.id, replica]))
    this.all = [...this.#replicas.values()]
    const staying = this.all.filter(({ isLeaving }) => !isLeaving)
    const joined = staying.filter(({ isJoining }) => !isJoining)
    this.#staying = joined.length > 0 ? joined : staying
  }

  /** Returns the replica with this name. */
  find(id: string): Replica | undefined {
    return this.#replicas.get(id as ReplicaId)
  }

  /**
   * The replicas that a request may be sent to, here whatever they serve: the ready ones. If none is ready, all that are
   * not draining, since a faulty health check must not take everything down. Empty only if all are draining or excluded.
   */
  candidates(excluding: ReadonlySet<ReplicaId> = none): readonly Replica[] {
    return taking(this.#staying, excluding)
  }

  /** Returns the choice for a request for this model; undefined if no engine serves it. */
  serving(model: string | undefined): ReplicaChoice | undefined {
    if (!this.models.isNeeded) return this
    return this.models.serving(model) && { ...this.preview(model), nextTurn: () => this.nextTurn() }
  }

  /** The choice that the next request for this model would get, without using up a turn. */
  preview(model: string | undefined): ReplicaChoice {
    // looked up each time: engines may come and go while the request waits
    const among = (): readonly Replica[] => this.models.serving(model) ?? []
    return {
      candidates: (excluding = none) => taking(among(), excluding),
      nextTurn: () => this.#turn + 1,
    }
  }

  /** Returns a number that rises by one with every call, for taking turns among equals. */
  nextTurn(): number {
    this.#turn += 1
    return this.#turn
  }

  /**
   * Stops sending requests to a replica, which completes those it has, or sends them again. Returns false if there is no
   * such replica.
   */
  setDraining(id: string, isDraining: boolean): boolean {
    const replica = this.find(id)
    if (replica) replica.isDraining = isDraining
    return replica !== undefined
  }
}

/** The ready ones, without those that are being warmed while others are free; if none is, all that are not draining. */
function taking(among: readonly Replica[], excluding: ReadonlySet<ReplicaId>): readonly Replica[] {
  const others = among.filter(({ id, isDraining }) => !isDraining && !excluding.has(id))
  const ready = others.filter(({ state }) => state === 'ready')
  const warm = ready.filter(({ warming }) => warming === undefined)
  if (warm.some(isFree)) return warm
  return ready.length > 0 ? ready : others
}

/** Whether a replica can take a request so soon that one which is still cold would hardly be sooner. */
function isFree({ admission, loadTokens }: Replica): boolean {
  return !admission.isFull && loadTokens < mostTokensAhead
}
