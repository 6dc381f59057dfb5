import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { Config } from './config/config.ts'
import { type FoundEngine, readEngineFiles } from './config/read-files.ts'
import { readEngines } from './config/sources/read-engines.ts'
import { createReplicas } from './create-replicas.ts'
import { EngineDiscovery } from './discovery/engine-discovery.ts'
import { resolveEngine } from './discovery/resolve-engine.ts'
import { followEngine } from './engine-events/follow-engine.ts'
import { ConfigError, ProxyError } from './errors.ts'
import { type Companion, Fleet } from './fleet.ts'
import type { SharedRedis } from './redis/create-shared-redis.ts'
import { ModelLists } from './replicas/model-lists.ts'
import type { Replica } from './replicas/replica.ts'
import type { ReplicaSet } from './replicas/replica-set.ts'
import { readModels } from './replicas/served-models.ts'
import type { Pipeline } from './request/pipeline.ts'
import { forgetReplica } from './telemetry/forget-replica.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** How long an engine may take to list its models. */
const modelsMilliseconds = 1_000

interface FleetParts extends Pick<Pipeline, 'replicas' | 'processed' | 'gain' | 'telemetry'> {
  readonly redis: SharedRedis | undefined
}

/** The replicas of engines that come and go, and what finds them. */
export interface LiveFleet {
  readonly fleet: Fleet
  readonly discovery: EngineDiscovery
}

/** Builds the fleet, still empty: `discovery.set` fills it. `config`: the current one. */
export function createFleet(config: () => Config, parts: FleetParts): LiveFleet {
  const { replicas, processed, gain, telemetry, redis } = parts
  const { log, metrics, divergence } = telemetry
  const fleet = new Fleet(replicas, {
    create: createReplicas(config, { processed, gain, log }),
    accompany: async (replica, { engine }) => {
      try {
        await followEngine(replica, engine, telemetry)
        // an embedded engine belongs to no other process
        const isOwn = config().engines.length === 0
        if (!redis || isOwn || engine.eventsUrl !== undefined) return []
        // loaded only if configured, as the client is
        const { shareMirror } = await import('./redis/share-mirror.ts')
        return [shareMirror(replica, redis, metrics, log)] satisfies Companion[]
      } catch (error) {
        log.error({ error, replica: replica.id }, 'the engine is not followed: internal error')
        return []
      }
    },
    onGone: (id) => {
      processed.forget(id)
      gain.drop(id)
      divergence.drop(id)
      void forgetReplica(metrics.registry, id)
    },
  })
  const discovery = new EngineDiscovery({
    resolve: resolveEngine,
    seconds: () => config().discoverSeconds,
    onFound: (engines) =>
      fleet.set(engines).catch((error: unknown) => log.error({ error }, 'engines stay as they were: internal error')),
    log,
  })
  return { fleet, discovery }
}

/** Creates what asks the engines for their models: once there are several, or names stand for others. */
export function createModelLists(
  replicas: ReplicaSet,
  { log, now }: Pick<Telemetry, 'log' | 'now'>,
): ModelLists<Replica> {
  return new ModelLists<Replica>({
    targets: () => replicas.all,
    isNeeded: () => replicas.all.length > 1 || replicas.models.aliases.size > 0,
    ask: async ({ engine, apiKey }) => {
      const headers = apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
      const answer = await askEngine(engine, { path: '/v1/models', headers }, AbortSignal.timeout(modelsMilliseconds))
      return answer?.status === 200 ? readModels(answer.text) : undefined
    },
    onUnknown: ({ id }) =>
      log.warn(
        { replica: id },
        'the engine does not list its models: it gets the requests for those that no other serves; or name them in engines[].models',
      ),
    now,
  })
}

/** Reads the engines of a request to the control plane. Throws `invalid_body`. */
export function readNewEngines(body: unknown, { engineApiKey }: Config): FoundEngine[] {
  try {
    return readEngineFiles(readEngines(body, engineApiKey))
  } catch (error) {
    if (error instanceof ConfigError) throw new ProxyError('invalid_body', error.message.replaceAll('\n', '; '))
    throw error
  }
}
