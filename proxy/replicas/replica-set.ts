import type { ReplicaId } from '#index/context-block.ts'
import type { Replica, ReplicaState } from './replica.ts'

/** The status of one replica, for metrics and the control plane. */
interface ReplicaStatus {
  readonly replica: ReplicaId
  readonly state: ReplicaState
  readonly inFlight: number
  readonly waiting: number
  /** tokens yet to be prefilled, at the engine and waiting */
  readonly loadTokens: number
}

const none: ReadonlySet<ReplicaId> = new Set()

/** The choice of replicas for routing a request. */
export interface ReplicaChoice {
  candidates(excluding?: ReadonlySet<ReplicaId>): readonly Replica[]
  nextTurn(): number
}

/** The replicas that share the requests. */
export class ReplicaSet implements ReplicaChoice {
  readonly #replicas: ReadonlyMap<ReplicaId, Replica>
  #failedOpen = 0
  #turn = 0

  constructor(replicas: readonly Replica[]) {
    this.#replicas = new Map(replicas.map((replica) => [replica.id, replica]))
  }

  /** All replicas, in the order of the configuration. */
  get all(): readonly Replica[] {
    return [...this.#replicas.values()]
  }

  /** How often a request was sent although no replica was ready. */
  get failedOpen(): number {
    return this.#failedOpen
  }

  /** Returns the replica with this name. */
  find(id: string): Replica | undefined {
    return this.#replicas.get(id as ReplicaId)
  }

  /**
   * The replicas that a request may be sent to: the ready ones. If none is ready, all that are not draining, since a
   * faulty health check must not take everything down. Empty only if all are draining or excluded.
   */
  candidates(excluding: ReadonlySet<ReplicaId> = none): readonly Replica[] {
    const { replicas, isAnyReady } = this.#taking(excluding)
    if (!isAnyReady && replicas.length > 0) this.#failedOpen += 1
    return replicas
  }

  /** The choice that the next request would get, without counting it or using up a turn. */
  get preview(): ReplicaChoice {
    return { candidates: (excluding = none) => this.#taking(excluding).replicas, nextTurn: () => this.#turn + 1 }
  }

  /** Whether another replica can be tried: a ready one, or any that is not draining if none at all is ready. */
  hasOther(than: ReadonlySet<ReplicaId>): boolean {
    return this.#taking(none).replicas.some(({ id }) => !than.has(id))
  }

  #taking(excluding: ReadonlySet<ReplicaId>): { replicas: readonly Replica[]; isAnyReady: boolean } {
    const others = this.all.filter(({ id, isDraining }) => !isDraining && !excluding.has(id))
    const ready = others.filter(({ state }) => state === 'ready')
    const isAnyReady = ready.length > 0
    return { replicas: isAnyReady ? ready : others, isAnyReady }
  }

  /** Returns a number that rises by one with every call, for taking turns among equals. */
  nextTurn(): number {
    this.#turn += 1
    return this.#turn
  }

  /** Stops sending requests to a replica; those it has run to completion. Returns false if there is no such replica. */
  drain(id: string): boolean {
    return this.#setDraining(id, true)
  }

  /** Sends requests to a replica again. Returns false if there is no such replica. */
  resume(id: string): boolean {
    return this.#setDraining(id, false)
  }

  /** The status of every replica. One that is draining and has no requests left can be stopped. */
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
