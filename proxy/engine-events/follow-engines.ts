import type { EngineConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'

/** Follows the KV events of every engine with a configured address for them (`events=`), for its replica's mirror. */
export async function followEngines(
  { all }: Pick<ReplicaSet, 'all'>,
  engines: readonly EngineConfig[],
  { log, metrics, now }: { readonly log: Log; readonly metrics: Metrics; readonly now: () => number },
): Promise<void> {
  for (const { id, eventsUrl, replayUrl } of engines) {
    const replica = all.find((candidate) => candidate.id === id)
    if (!replica || eventsUrl === undefined) continue
    if (replayUrl === undefined) {
      log.warn({ replica: id }, 'without replay= missed events stay missed, and the mirror degraded: configure both')
    }
    // loaded only if configured: ZeroMQ is a separate library in memory, with its own threads
    const { EngineEvents } = await import('./engine-events.ts')
    const events = new EngineEvents({
      eventsUrl,
      replayUrl,
      mirror: replica.replicaMirror,
      now,
      warn: (details, message) => log.warn({ replica: id, ...details }, message),
      onGap: () => metrics.mirrorGaps.inc(),
    })
    replica.cache.followBy(events)
  }
}
