import type { Log } from '../common/log.ts'
import type { Replica } from './replica.ts'

/** The watched properties of a replica. */
type WatchedReplica = Pick<Replica, 'id' | 'isDraining' | 'isLeaving'> & {
  readonly health: Pick<Replica['health'], 'isHealthy'>
  readonly breaker: Pick<Replica['breaker'], 'state' | 'lastFault'>
}

/** A replica's state as an operator sees it: a pending probe has not changed anything yet. */
type Standing = 'ready' | 'unhealthy' | 'open' | 'draining' | 'leaving'

/**
 * Returns what logs when a replica is taken out of use and why, and when it is used again; to be called periodically.
 * `replicas`: those there are now.
 */
export function watchReplicas(replicas: () => readonly WatchedReplica[], log: Pick<Log, 'info' | 'warn'>): () => void {
  const standings = new WeakMap<WatchedReplica, Standing>()
  return () => {
    for (const replica of replicas()) {
      const before = standings.get(replica) ?? 'ready'
      const now = standingOf(replica)
      if (now === before) continue
      standings.set(replica, now)
      tell(log, replica, now, before)
    }
  }
}

function tell(
  log: Pick<Log, 'info' | 'warn'>,
  { id: replica, breaker: { lastFault: fault } }: WatchedReplica,
  standing: Standing,
  before: Standing,
): void {
  const [level, words] = news[standing]
  // its last fault is from before: nothing has been sent to it since
  if (standing === 'open' && before === 'unhealthy')
    log.info({ replica }, 'the engine passes its health checks again: the next request tries it')
  else log[level](standing === 'open' ? { replica, fault } : { replica }, words)
}

const leftAlone = 'it is left alone while another is ready, and tried again now and then'

const news: Readonly<Record<Standing, readonly ['info' | 'warn', string]>> = {
  ready: ['info', 'the engine gets requests again'],
  draining: ['info', 'the engine is drained: it gets no more requests until it is resumed'],
  leaving: ['info', 'the engine is no longer configured or found: it finishes its requests, and is dropped'],
  unhealthy: ['warn', `the engine fails its health checks: ${leftAlone}`],
  open: ['warn', `the engine fails requests: ${leftAlone}`],
}

function standingOf({ isDraining, isLeaving, health, breaker }: WatchedReplica): Standing {
  if (isLeaving) return 'leaving'
  if (isDraining) return 'draining'
  if (!health.isHealthy) return 'unhealthy'
  return breaker.state === 'closed' ? 'ready' : 'open'
}
