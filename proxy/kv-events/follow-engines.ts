import type { EngineConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import { EngineEvents } from './engine-events.ts'

/** Reads the KV events of every engine whose place for them is configured (`events=`), into its replica's mirror. */
export function followEngines(
  { all }: Pick<ReplicaSet, 'all'>,
  engines: readonly EngineConfig[],
  { log, metrics, now }: { readonly log: Log; readonly metrics: Metrics; readonly now: () => number },
): void {
  for (const { id, eventsUrl, replayUrl } of engines) {
    const replica = all.find((candidate) => candidate.id === id)
    if (!replica || eventsUrl === undefined) continue
    if (replayUrl === undefined) {
      log.warn({ replica: id }, 'without replay= missed events stay missed, and the mirror degraded: configure both')
    }
    replica.events = new EngineEvents({
      eventsUrl,
      replayUrl,
      mirror: replica.replicaMirror,
      now,
      warn: (details, message) => log.warn({ replica: id, ...details }, message),
      onGap: () => metrics.mirrorGaps.inc(),
    })
  }
}
