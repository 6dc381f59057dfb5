import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import type { ReplicaId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Admission } from './admission.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { HealthState } from './health-checks.ts'
import type { ReplicaCache } from './mirror/replica-cache.ts'
import type { ReplicaMirror } from './mirror/replica-mirror.ts'
import type { CheckpointReport, KnownReuse } from './reports/callback-bodies.ts'
import type { FollowedEvents } from './reports/followed-events.ts'
import type { TokenAsker } from './reports/token-asker.ts'
import { type ServedModels, toStatedModels } from './served-models.ts'

type ReplicaParts = Pick<Replica, 'adapter' | 'engine' | 'replicaMirror' | 'admission' | 'breaker' | 'health'> &
  Partial<Pick<Replica, 'tokens' | 'apiKey'>> & {
    /** undefined: the engine is asked which models it serves */
    readonly statedModels?: readonly string[] | undefined
  }

/** `open`: its circuit breaker lets nothing through. */
export type ReplicaState = 'ready' | 'unhealthy' | 'open' | 'draining'

/** One engine process with everything that is known about it. */
export class Replica {
  readonly adapter: EngineAdapter
  readonly engine: EngineClient
  readonly replicaMirror: ReplicaMirror
  readonly admission: Admission
  readonly breaker: CircuitBreaker
  readonly health: HealthState
  /** undefined: the engine cannot tokenize prompts for us */
  readonly tokens: TokenAsker | undefined
  /** `statedCache` of an engine that reports what it caches: mirrors may rely on it */
  cacheConfig: CacheSize | undefined
  /** what the engine says of its cache when it is asked (vLLM, SGLang); undefined: nothing yet */
  statedCache: CacheSize | undefined
  /** the key that replaces the caller's; undefined: the caller's is passed on */
  apiKey: string | undefined
  /** what it serves, as the configuration or the engine itself says; undefined: neither has yet */
  models: ServedModels | undefined
  /** the configuration names them: it is not asked */
  areModelsStated = false
  /** an operator drains it: it gets no more requests until it is resumed */
  isDraining = false
  /** it has come, and gets requests once it is known what it serves */
  isJoining = false
  /** it has come and is being warmed, so that others are preferred; what was computed for that */
  warming: { readonly requests: number; readonly tokens: number } | undefined
  /** its engine is no longer configured or found: it gets no more requests, and is dropped once it has none */
  isLeaving = false
  /** requests passed through without a prompt that have not ended */
  passing = 0

  constructor(parts: ReplicaParts) {
    this.adapter = parts.adapter
    this.engine = parts.engine
    this.replicaMirror = parts.replicaMirror
    this.admission = parts.admission
    this.breaker = parts.breaker
    this.health = parts.health
    this.tokens = parts.tokens
    this.apiKey = parts.apiKey
    this.setModels(parts.statedModels)
  }

  /** Sets the models that the configuration names; undefined: the engine is asked. */
  setModels(stated: readonly string[] | undefined): void {
    // what it answered stays until it is asked again
    if (stated || this.areModelsStated) this.models = stated && toStatedModels(stated)
    this.areModelsStated = stated !== undefined
  }

  /** Closes the connections to the engine. */
  async close(): Promise<void> {
    await this.events?.close()
    await this.engine.close()
  }

  /** Its name. */
  get id(): ReplicaId {
    return this.replicaMirror.replica
  }

  /** The model of its cache; receives everything that happens to requests. */
  get cache(): ReplicaCache {
    return this.replicaMirror.cache
  }

  /** The engine's own cache events, if they are followed. */
  get events(): FollowedEvents | undefined {
    return this.cache.events
  }

  /** What it is believed to have cached. */
  get mirror(): CacheMirror {
    return this.cache.mirror
  }

  /** How the engine reuses KV at any position; undefined: it does not. */
  get reuse(): KnownReuse | undefined {
    return this.adapter.canReuseAnywhere ? this.replicaMirror.reuse : undefined
  }

  /** How the engine keeps checkpoints at borders that requests name; undefined: it does not. */
  get checkpoints(): CheckpointReport | undefined {
    return this.replicaMirror.checkpoints
  }

  /** Whether it should get requests, and if not, the most important reason. */
  get state(): ReplicaState {
    if (this.isDraining || this.isLeaving) return 'draining'
    if (!this.health.isHealthy) return 'unhealthy'
    return this.breaker.isPassable ? 'ready' : 'open'
  }

  /** Tokens to be prefilled before a request that arrives now. */
  get loadTokens(): number {
    return this.admission.inFlightTokens + this.admission.waitingTokens
  }

  /** Its requests that have not ended: at the engine, waiting for it, or passed through. */
  get requests(): number {
    return this.inFlight + this.admission.depth
  }

  /** Those of them that are at the engine. */
  get inFlight(): number {
    return this.admission.inFlight + this.passing
  }
}
