import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import type { ReplicaId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { FollowedEvents } from '../engine-reports/followed-events.ts'
import type { TokenAsker } from '../engine-reports/token-asker.ts'
import type { ReplicaCache } from '../mirror/replica-cache.ts'
import type { ReplicaMirror } from '../mirror/replica-mirror.ts'
import type { Admission } from '../request/admission.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { HealthState } from './health-state.ts'

/** What a replica is made of. */
export interface ReplicaParts {
  readonly adapter: EngineAdapter
  readonly engine: EngineClient
  readonly replicaMirror: ReplicaMirror
  readonly admission: Admission
  readonly breaker: CircuitBreaker
  readonly health: HealthState
  /** undefined: the engine cannot be asked for the tokens of prompts */
  readonly tokens?: TokenAsker | undefined
}

/** `open`: its circuit breaker lets nothing through. */
export type ReplicaState = 'ready' | 'unhealthy' | 'open' | 'draining'

/** One engine process with all that is known of it. */
export class Replica implements ReplicaParts {
  readonly adapter: EngineAdapter
  readonly engine: EngineClient
  readonly replicaMirror: ReplicaMirror
  readonly admission: Admission
  readonly breaker: CircuitBreaker
  readonly health: HealthState
  readonly tokens: TokenAsker | undefined
  /** what the engine says of its cache (vLLM, SGLang); undefined until it has said it */
  cacheConfig: CacheSize | undefined
  /** it is given no more requests */
  isDraining = false
  /** requests without a prompt that it has been passed and that have not ended */
  passing = 0

  constructor({ adapter, engine, replicaMirror, admission, breaker, health, tokens }: ReplicaParts) {
    this.adapter = adapter
    this.engine = engine
    this.replicaMirror = replicaMirror
    this.admission = admission
    this.breaker = breaker
    this.health = health
    this.tokens = tokens
  }

  /** Ends the connections to it. */
  async close(): Promise<void> {
    await this.events?.close()
    await this.engine.close()
  }

  /** Its name. */
  get id(): ReplicaId {
    return this.replicaMirror.replica
  }

  /** What happens to requests is told to it. */
  get cache(): ReplicaCache {
    return this.replicaMirror.cache
  }

  /** What the engine itself tells of its cache, where it is asked to. */
  get events(): FollowedEvents | undefined {
    return this.cache.events
  }

  /** What it is believed to have cached. */
  get mirror(): CacheMirror {
    return this.replicaMirror.mirror
  }

  /** How it reuses KV at any position; undefined: it does not. */
  get reuse(): AnyPositionReuse | undefined {
    return this.adapter.canReuseAnywhere ? this.replicaMirror.reuse : undefined
  }

  /** Whether it should be given requests, and if not, the weightiest reason. */
  get state(): ReplicaState {
    if (this.isDraining) return 'draining'
    if (!this.health.isHealthy) return 'unhealthy'
    return this.breaker.isPassable ? 'ready' : 'open'
  }

  /** Tokens that it has yet to prefill before a request that comes now. */
  get loadTokens(): number {
    return this.admission.inFlightTokens + this.admission.waitingTokens
  }

  /** Requests that it has been given and that have not ended, at the engine or waiting for it, passed through or not. */
  get requests(): number {
    return this.admission.inFlight + this.admission.depth + this.passing
  }
}
