import type { SimulatedCache } from '#index/tree-cache/simulated-cache.ts'
import type { OrderingName } from '#tools/replay/policies/policy-names.ts'
import type { ReplaySettings } from '#tools/replay/replay-options.ts'
import type { ReplayRequest } from '#tools/replay/replay-request.ts'
import type { ReplayRun } from '#tools/replay/run/replay-run.ts'
import { replayTrace } from '#tools/replay/run/replay-trace.ts'
import { createCache } from './cache/create-cache.ts'
import type { EvictionName } from './cache/eviction/eviction-names.ts'
import { type HostFigures, movedSince } from './cache/host-tier.ts'
import type { HostedCache } from './cache/hosted-cache.ts'
import { LatencyModel } from './latency-model.ts'

/** How a cache evicts, and the host memory behind it. */
export interface EvictionSettings {
  /** default: lru */
  readonly eviction?: EvictionName
  /** capacity of the host memory behind the cache; default: none */
  readonly hostTokens?: number
  /** minimum number of requests for admission to the host; default: 10 */
  readonly admission?: number
}

/** A run, what its requests waited for, and what went over the link to the host. */
export interface EvictionRun extends ReplayRun {
  readonly waitSeconds: number
  readonly hostFigures: HostFigures | undefined
}

const pcieGbps = 25

/** Adds up what requests wait for a cache, by a model of one large device. */
class TimedCache implements SimulatedCache {
  readonly #cache: HostedCache
  readonly #latency: LatencyModel
  waitSeconds = 0

  constructor(cache: HostedCache, latency: LatencyModel) {
    this.#cache = cache
    this.#latency = latency
  }

  serve(request: number, salt: string, tokens: Uint32Array, promptTokens: number = tokens.length): number {
    const before = { ...this.#cache.hostFigures }
    const cached = this.#cache.serve(request, salt, tokens, promptTokens)
    this.waitSeconds += this.#latency.wait(promptTokens - cached, movedSince(before, this.#cache.hostFigures))
    return cached
  }

  holds(promptTokens: number): boolean {
    return this.#cache.holds(promptTokens)
  }

  takeChanges(): ReadonlyMap<number, number> {
    return this.#cache.takeChanges()
  }
}

/** Replays a trace with a cache that evicts in another way, or has a host behind it. */
export function replayEvictions(
  requests: readonly ReplayRequest[],
  order: OrderingName,
  settings: ReplaySettings,
  eviction: EvictionSettings,
): EvictionRun {
  const latency = new LatencyModel({ ...settings, pcieGbps })
  const cache = createCache({ ...settings, ...eviction, promotedTokens: latency.promotedTokens })
  const timed = new TimedCache(cache, latency)
  const run = replayTrace(requests, order, settings, { cache: timed })
  return { ...run, waitSeconds: timed.waitSeconds, hostFigures: cache.hostFigures }
}
