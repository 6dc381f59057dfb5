import type { Log } from '../common/log.ts'
import type { EngineConfig } from '../config/config.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Follows the KV events of an engine with a configured address for them (`events=`), for its replica's mirror. */
export async function followEngine(
  replica: Replica,
  { id, events: eventsUrl, replay: replayUrl }: EngineConfig,
  { log, metrics, now }: { readonly log: Log; readonly metrics: Metrics; readonly now: () => number },
): Promise<void> {
  if (eventsUrl === undefined) return
  if (replayUrl === undefined) {
    log.warn({ replica: id }, 'without replay= missed events stay missed, and the mirror degraded: configure both')
  }
  // loaded only if configured: ZeroMQ is a separate library in memory, with its own threads
  const { EngineEvents } = await import('../replicas/events/engine-events.ts')
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
