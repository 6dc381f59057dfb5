import { randomInt } from 'node:crypto'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { createEngineClient, type EngineTls } from '#engine-adapters/engine-client.ts'
import { AverageDensity } from '#index/average-density.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { HistoryWindow } from '#index/ordering/demand-history.ts'
import type { ProcessedBlocks } from '#index/processed-blocks.ts'
import type { Config, EngineConfig } from './config/config.ts'
import { TokenAsker } from './engine-reports/token-asker.ts'
import { ReplicaMirror } from './mirror/replica-mirror.ts'
import { Admission, type AdmissionLimits } from './replicas/admission.ts'
import { type BreakerOptions, CircuitBreaker } from './replicas/circuit-breaker.ts'
import { HealthState } from './replicas/health-state.ts'
import { Replica } from './replicas/replica.ts'

/** Blocks that a mirror remembers per remembered request, on average; few requests have this many. */
const blocksPerRequest = 80

/** Creates a replica for each engine; `tls` is in the order of the engines. */
export function createReplicas(
  engines: readonly EngineConfig[],
  config: Config,
  tls: readonly (EngineTls | undefined)[],
  processed: ProcessedBlocks,
): Replica[] {
  const createMirror = createMirrors(config)
  return engines.map(({ url, kind, id }, i) => {
    const replica = id as ReplicaId
    const mirror = createMirror()
    const engine = createEngineClient(url, tls[i])
    const adapter = adapterFor(kind)
    return new Replica({
      adapter,
      engine,
      tokens: adapter.publishesEvents ? new TokenAsker(engine, adapter) : undefined,
      replicaMirror: new ReplicaMirror(replica, mirror, () => processed.forget(replica)),
      admission: new Admission(toAdmissionLimits(config)),
      breaker: new CircuitBreaker(toBreakerOptions(config)),
      health: new HealthState(),
    })
  })
}

/**
 * Returns a factory of empty mirrors, as configured. Its mirrors share what they learn about tokens per text, and one
 * bound on the demand that they remember.
 */
export function createMirrors({ mirroredRequests, maxDisplacement }: Config): () => CacheMirror {
  const shared = {
    maxRequests: mirroredRequests,
    maxBlocks: blocksPerRequest * mirroredRequests,
    ordering: { history: new HistoryWindow(), maxDisplacement },
    average: new AverageDensity(),
  }
  return () => new CacheMirror({ ...shared, secret: randomInt(2 ** 31) })
}

/** How many requests a replica accepts, as configured. */
export function toAdmissionLimits(config: Config): AdmissionLimits {
  return {
    windowMilliseconds: config.groupWindowMilliseconds,
    capacity: config.waitingRequests,
    inFlight: config.inFlightPerReplica,
  }
}

/** When a replica is taken out of use for a while, as configured. */
export function toBreakerOptions({ breaker }: Config): Partial<BreakerOptions> {
  return { failuresInARow: breaker.failures, openMilliseconds: breaker.openSeconds * 1000 }
}
