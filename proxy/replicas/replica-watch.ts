import type { Log } from '../log.ts'
import type { Replica } from './replica.ts'

/** What is looked at of a replica. */
export type WatchedReplica = Pick<Replica, 'id' | 'isDraining'> & {
  readonly health: Pick<Replica['health'], 'isHealthy'>
  readonly breaker: Pick<Replica['breaker'], 'state' | 'lastFault'>
}

/** How a replica stands for an operator: a probe that is under way has not changed anything yet. */
type Standing = 'ready' | 'unhealthy' | 'open' | 'draining'

/** Tells the log when a replica is left alone and why, and when it is used again. */
export class ReplicaWatch {
  readonly #standings: Map<WatchedReplica, Standing>
  readonly #log: Pick<Log, 'info' | 'warn'>

  constructor(replicas: readonly WatchedReplica[], log: Pick<Log, 'info' | 'warn'>) {
    this.#standings = new Map(replicas.map((replica) => [replica, 'ready']))
    this.#log = log
  }

  /** Looks at all of them, and tells what has changed. */
  tick(): void {
    for (const [replica, before] of this.#standings) {
      const now = standingOf(replica)
      if (now === before) continue
      this.#standings.set(replica, now)
      this.#tell(replica, now, before)
    }
  }

  #tell({ id, breaker }: WatchedReplica, standing: Standing, before: Standing): void {
    const [replica, fault] = [id, breaker.lastFault]
    // its fault is of the time before: nothing has been asked of it since
    if (standing === 'open' && before === 'unhealthy') {
      this.#log.info({ replica }, 'the engine passes its health checks again: the next request tries it')
      return
    }
    switch (standing) {
      case 'ready':
        this.#log.info({ replica }, 'the engine gets requests again')
        break
      case 'draining':
        this.#log.info({ replica }, 'the engine is drained: it gets no more requests until it is resumed')
        break
      case 'unhealthy':
        this.#log.warn({ replica }, `the engine fails its health checks: ${leftAlone}`)
        break
      case 'open':
        this.#log.warn({ replica, fault }, `the engine fails requests: ${leftAlone}`)
        break
    }
  }
}

const leftAlone = 'it is left alone while another is ready, and tried again now and then'

function standingOf({ isDraining, health, breaker }: WatchedReplica): Standing {
  if (isDraining) return 'draining'
  if (!health.isHealthy) return 'unhealthy'
  return breaker.state === 'closed' ? 'ready' : 'open'
}
