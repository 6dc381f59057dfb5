import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { createEngineClient } from '#engine-adapters/engine-client.ts'
import { AverageDensity } from '#index/average-density.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { HistoryWindow } from '#index/ordering/demand-history.ts'
import type { Config } from '../config/config.ts'
import type { FoundEngine } from '../config/read-files.ts'
import { Admission } from '../replicas/admission.ts'
import { CircuitBreaker } from '../replicas/circuit-breaker.ts'
import { HealthState } from '../replicas/health-checks.ts'
import { type Loss, ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import { Replica } from '../replicas/replica.ts'
import { TokenAsker } from '../replicas/reports/token-asker.ts'
import type { Pipeline } from '../request/pipeline.ts'

/** Requests of each replica that are mirrored before the oldest is forgotten; about 600 bytes each. */
const mirroredRequests = 50_000
/** Blocks that a mirror remembers per remembered request, on average; few requests have this many. */
const blocksPerRequest = 80

/** Returns what creates a replica for an engine, with the limits of the current configuration. */
export function createReplicas(
  config: () => Pick<Config, 'groupWindowMilliseconds' | 'waitingRequests' | 'limits' | 'breaker'>,
  { processed, gain, log }: Pick<Pipeline, 'processed' | 'gain' | 'log'>,
): (found: FoundEngine) => Replica {
  const createMirror = createMirrors()
  /** Records each loss of all that an engine held: a restart also in the log. */
  const note = (replica: ReplicaId, loss: Loss): void => {
    processed.forget(replica)
    if (loss !== 'first') gain.lost(replica)
    if (loss !== 'restarted') return
    const reason = 'the engine was restarted: it reports as another generation'
    log.warn({ replica, reason }, 'the mirror begins anew: what the engine held before is gone')
  }
  return ({ engine: { url, kind, id, api_key: apiKey, models }, tls }) => {
    const replica = id as ReplicaId
    const engine = createEngineClient(url, tls)
    const adapter = adapterFor(kind)
    const { groupWindowMilliseconds: windowMilliseconds, waitingRequests: capacity, limits, breaker } = config()
    return new Replica({
      adapter,
      engine,
      tokens: adapter.publishesEvents ? new TokenAsker(engine, adapter) : undefined,
      replicaMirror: new ReplicaMirror(replica, createMirror(), (loss) => note(replica, loss)),
      admission: new Admission({ windowMilliseconds, capacity, inFlight: limits.in_flight_per_replica }),
      breaker: new CircuitBreaker(breaker),
      health: new HealthState(),
      apiKey,
      statedModels: models,
    })
  }
}

/**
 * Returns a factory of empty mirrors. Its mirrors share what they learn about tokens per text, and one bound on the
 * demand that they remember.
 */
export function createMirrors(): () => CacheMirror {
  const shared = {
    maxRequests: mirroredRequests,
    maxBlocks: blocksPerRequest * mirroredRequests,
    history: new HistoryWindow(),
    average: new AverageDensity(),
  }
  return () => new CacheMirror(shared)
}
