import { ConfigError, ProxyError } from '../common/errors.ts'
import { within } from '../common/within.ts'
import type { Config, EngineConfig } from '../config/config.ts'
import { engineFiles, type FoundEngine, findExpiredOfEngines, readEngineFiles } from '../config/read-files.ts'
import { readEngines } from '../config/sources/config-source.ts'
import { watchCertificates } from '../config/sources/watch-files.ts'
import { findEngineWarnings, warnOnce } from '../config/start-warnings.ts'
import { PinKeeper } from '../idle/pins/pin-keeper.ts'
import { Warmer } from '../idle/warming/warmer.ts'
import type { SharedRedis } from '../redis/create-shared-redis.ts'
import { EndpointSlices } from '../replicas/discovery/endpoint-slices.ts'
import { EngineDiscovery, type UnresolvedEngine } from '../replicas/discovery/engine-discovery.ts'
import { inClusterAccess, KubernetesApi } from '../replicas/discovery/kubernetes-api.ts'
import { resolveEngine } from '../replicas/discovery/resolve-engine.ts'
import { type Companion, Fleet } from '../replicas/fleet.ts'
import { ModelLists } from '../replicas/model-lists.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { forgetReplica } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { createReplicas } from './create-replicas.ts'

/** How long startup, and a request that changes the engines, wait until these are found and get requests. */
const discoverMilliseconds = 5_000
/** How long shutdown waits for pending writes about replicas to Redis. */
const flushMilliseconds = 2_000

type Named = Pick<Config, 'engines' | 'engine_api_key'>

/** The replicas of engines that come and go; none at first. */
export class LiveFleet {
  /** Reads the engines where they were named last, with the keys of a configuration. */
  readNamed: (config: Named) => readonly FoundEngine[] = ofConfig
  readonly #pipeline: Pipeline
  readonly #isEmbedded: boolean
  readonly #fleet: Fleet
  readonly #slices: EndpointSlices
  readonly #discovery: EngineDiscovery
  #endWatching = (): void => {}
  readonly #warn: (warnings: readonly string[]) => void

  /** `isEmbedded`: the only engine is the embedded one, which belongs to no other process and does not change. */
  constructor(pipeline: Pipeline, redis: SharedRedis | undefined, isEmbedded: boolean) {
    const { log, modelLists, processed, gain, telemetry, warmer, replicas, settings } = pipeline
    this.#pipeline = pipeline
    this.#warn = warnOnce(log)
    this.#isEmbedded = isEmbedded
    this.#fleet = new Fleet(replicas, {
      create: createReplicas(settings, pipeline),
      accompany: (replica, { engine }) => accompany(replica, engine, telemetry, isEmbedded ? undefined : redis),
      join: () => modelLists.askNow(),
      onJoined: (coming) => warmer.begin(coming),
      onGone: (id) => {
        processed.forget(id)
        gain.drop(id)
        telemetry.divergence.delete(id)
        void forgetReplica(telemetry.metrics.registry, id)
      },
    })
    this.#slices = new EndpointSlices(
      () => new KubernetesApi(settings().kubernetes ?? inClusterAccess()),
      () => void this.#discovery.look(),
    )
    this.#discovery = new EngineDiscovery({
      resolve: (engine) => (engine.discover === 'endpoints' ? this.#slices.resolve(engine) : resolveEngine(engine)),
      onFound: (engines) =>
        this.#fleet
          .set(engines)
          .catch((error: unknown) => log.error({ error }, 'engines stay as they were: internal error')),
      log,
    })
    replicas.models.aliases = toAliases(settings())
  }

  /** Makes these the engines that get requests. Resolves when they are found, or after a time. */
  set(engines: readonly FoundEngine[]): Promise<void> {
    return within(discoverMilliseconds, this.#follow(engines))
  }

  /** Makes the engines in a request's body those that get requests. Resolves with those not found. Throws `invalid_body`. */
  async setFrom(body: unknown): Promise<readonly UnresolvedEngine[]> {
    const ofBody = (current: Named): readonly FoundEngine[] => readNewEngines(body, current)
    const engines = ofBody(this.#pipeline.settings())
    this.readNamed = ofBody
    await this.set(engines)
    return this.#discovery.unresolved
  }

  /** Begins to share what is known of replicas, and asks which models they serve. Resolves when they have answered. */
  start(): Promise<void> {
    this.#fleet.start()
    return this.#pipeline.modelLists.askNow()
  }

  /** `keepsNamed`: the engines are those that `readNamed` has returned, and not the configuration's. */
  reload(config: Config, engines: readonly FoundEngine[], keepsNamed: boolean): void {
    this.#pipeline.replicas.models.aliases = toAliases(config)
    if (!keepsNamed) this.readNamed = ofConfig
    if (!this.#isEmbedded) void this.#follow(engines)
  }

  /** Drops replicas that have left; to be called periodically. */
  tick(): void {
    for (const part of [this.#fleet, this.#pipeline.warmer, this.#pipeline.pins]) part.tick()
  }

  close(): Promise<void> {
    this.#endWatching()
    this.#slices.retain([])
    for (const part of [this.#discovery, this.#pipeline.warmer, this.#pipeline.pins]) part.close()
    return this.#fleet.close(flushMilliseconds)
  }

  #follow(engines: readonly FoundEngine[]): Promise<void> {
    const { log, settings } = this.#pipeline
    const configs = engines.map(({ engine }) => engine)
    this.#endWatching()
    this.#endWatching = watchCertificates(engineFiles(configs), () => void this.#follow(readEngineFiles(configs)), log)
    this.#warn([...findEngineWarnings({ ...settings(), engines: configs }), ...findExpiredOfEngines(engines)])
    this.#slices.retain(configs.filter(({ discover }) => discover === 'endpoints'))
    return this.#discovery.set(engines)
  }
}

function ofConfig({ engines }: Named): readonly FoundEngine[] {
  return readEngineFiles(engines)
}

/**
 * Follows an engine's KV events, if it has a configured address for them (`events=`), or else shares its mirror. A fault
 * of ours is logged, and has no other effect.
 */
async function accompany(
  replica: Replica,
  { id, events: eventsUrl, replay: replayUrl }: EngineConfig,
  { log, metrics, now }: Telemetry,
  redis: SharedRedis | undefined,
): Promise<Companion[]> {
  try {
    if (eventsUrl === undefined) {
      if (!redis) return []
      // loaded only if configured, as the client is
      const { shareMirror } = await import('../redis/share-mirror.ts')
      return [shareMirror(replica, redis, metrics, log)]
    }
    if (replayUrl === undefined)
      log.warn({ replica: id }, 'without replay= missed events stay missed, and the mirror degraded: configure both')
    // loaded only if configured: ZeroMQ is a separate library in memory, with its own threads
    const { EngineEvents } = await import('../replicas/events/engine-events.ts')
    replica.cache.events = new EngineEvents({
      eventsUrl,
      replayUrl,
      mirror: replica.replicaMirror,
      now,
      warn: (details, message) => log.warn({ replica: id, ...details }, message),
      onGap: () => metrics.mirrorGaps.inc(),
    })
  } catch (error) {
    log.error({ error, replica: id }, 'what the engine holds is not followed: internal error')
  }
  return []
}

/** Creates what the engines, still none, are asked and sent besides the requests of clients. */
export function createAsides(
  settings: Pipeline['settings'],
  replicas: ReplicaSet,
  telemetry: Telemetry,
): Pick<Pipeline, 'modelLists' | 'warmer' | 'pins'> & { readonly modelLists: ModelLists } {
  const { metrics, log, now } = telemetry
  const pins = new PinKeeper({
    replicas,
    limits: () => ({ tenantTokens: Math.floor(settings().pins.tokens / 2), ...settings().pins }),
    onTokens: (tokens) => metrics.pinnedTokens.set(tokens),
    onMark: (outcome) => metrics.pins.inc({ outcome }),
    onKeep: (outcome, tokens) => {
      metrics.pinRequests.inc({ outcome })
      metrics.warmUpTokens.inc(tokens)
    },
    log,
    now,
  })
  const warmer = new Warmer({
    replicas,
    seconds: () => (settings().warm_up ? settings().warmUpSeconds : 0),
    owes: (replica) => pins.owes(replica),
    onWarmUp: (outcome, tokens) => {
      metrics.warmUps.inc({ outcome })
      metrics.warmUpTokens.inc(tokens)
    },
    log,
    now,
  })
  return { modelLists: new ModelLists({ replicas, log, now }), warmer, pins }
}

/** Reads the engines of a request to the control plane. Throws `invalid_body`. */
function readNewEngines(body: unknown, { engine_api_key }: Named): FoundEngine[] {
  try {
    return readEngineFiles(readEngines(body, engine_api_key))
  } catch (error) {
    if (error instanceof ConfigError) throw new ProxyError('invalid_body', error.message.replaceAll('\n', '; '))
    throw error
  }
}

function toAliases({ aliases }: Pick<Config, 'aliases'>): ReadonlyMap<string, readonly string[]> {
  return new Map(aliases.map(({ name, models }) => [name, models]))
}
