import type { ReplicaId } from '#index/context-block.ts'
import type { Replica, ReplicaState } from './replica.ts'

/** How one replica stands, for metrics and the control plane. */
export interface ReplicaStatus {
  readonly replica: ReplicaId
  readonly state: ReplicaState
  readonly inFlight: number
  readonly waiting: number
  /** yet to be prefilled, at the engine and waiting */
  readonly loadTokens: number
}

const none: ReadonlySet<ReplicaId> = new Set()

/** What a request is routed by. */
export interface ReplicaChoice {
  candidates(excluding?: ReadonlySet<ReplicaId>): readonly Replica[]
  nextTurn(): number
}

/** The replicas that requests are shared between. */
export class ReplicaSet implements ReplicaChoice {
  readonly #replicas: ReadonlyMap<ReplicaId, Replica>
  #failedOpen = 0
  #turn = 0

  constructor(replicas: readonly Replica[]) {
    this.#replicas = new Map(replicas.map((replica) => [replica.id, replica]))
  }

  /** All replicas, in the order they were configured. */
  get all(): readonly Replica[] {
    return [...this.#replicas.values()]
  }

  /** How often no replica was ready and requests were sent all the same. */
  get failedOpen(): number {
    return this.#failedOpen
  }

  /** The replica of this name. */
  find(id: string): Replica | undefined {
    return this.#replicas.get(id as ReplicaId)
  }

  /**
   * The replicas that a request may be sent to: those that are ready. If none is, all that are not draining, since a
   * health check that is wrong must not take everything down. Empty only when all others are draining or excluded.
   */
  candidates(excluding: ReadonlySet<ReplicaId> = none): readonly Replica[] {
    const { replicas, isAnyReady } = this.#taking(excluding)
    if (!isAnyReady && replicas.length > 0) this.#failedOpen += 1
    return replicas
  }

  /** What the next request would be given. Asking for it counts nothing and takes nobody's turn. */
  get preview(): ReplicaChoice {
    return { candidates: (excluding = none) => this.#taking(excluding).replicas, nextTurn: () => this.#turn + 1 }
  }

  /** Whether there is a replica to be tried besides these: a ready one, or any where none at all is ready. */
  hasOther(than: ReadonlySet<ReplicaId>): boolean {
    return this.#taking(none).replicas.some(({ id }) => !than.has(id))
  }

  #taking(excluding: ReadonlySet<ReplicaId>): { replicas: readonly Replica[]; isAnyReady: boolean } {
    const others = this.all.filter(({ id, isDraining }) => !isDraining && !excluding.has(id))
    const ready = others.filter(({ state }) => state === 'ready')
    const isAnyReady = ready.length > 0
    return { replicas: isAnyReady ? ready : others, isAnyReady }
  }

  /** Rises by one with every call: who has the turn among equals. */
  nextTurn(): number {
    this.#turn += 1
    return this.#turn
  }

  /** Gives a replica no more requests; those it has been given run to their end. False when there is none of this name. */
  drain(id: string): boolean {
    return this.#setDraining(id, true)
  }

  /** Gives a replica requests again. False when there is none of this name. */
  resume(id: string): boolean {
    return this.#setDraining(id, false)
  }

  /** How every replica stands; one that is draining and has no requests left can be stopped. */
  states(): ReplicaStatus[] {
    return this.all.map(({ id, state, loadTokens, admission }) => ({
      replica: id,
      state,
      inFlight: admission.inFlight,
      waiting: admission.depth,
      loadTokens,
    }))
  }

  #setDraining(id: string, isDraining: boolean): boolean {
    const replica = this.find(id)
    if (replica) replica.isDraining = isDraining
    return replica !== undefined
  }
}
