import { askCacheSize } from '#engine-adapters/cache-config.ts'
import type { Log } from '../common/log.ts'
import { followCacheSizes } from './cache-sizes.ts'
import { checkHealth, type HealthCheckOptions } from './health-checks.ts'
import type { ModelLists } from './model-lists.ts'
import type { Replica } from './replica.ts'
import { watchReplicas } from './replica-watch.ts'

/** Short, because token-exact predictions for a newly started engine wait until it describes its cache. */
const tickMilliseconds = 100

/** What the periodic work for replicas needs of the rest of the proxy. */
interface Upkeep {
  readonly log: Log
  readonly now: () => number
  /** whether anybody is told when no engine accepts requests */
  readonly tellsOfEngines: boolean
  /** whether anybody reads or records estimates of what engines hold */
  readonly wantsEstimates: () => boolean
  readonly modelLists: Pick<ModelLists, 'tick'>
  /** called at every tick */
  readonly onTick: () => void
}

/**
 * Runs the periodic work for the replicas that there are off the request path until closed. Does not keep the process
 * alive.
 */
export function lookAfterReplicas(
  replicas: () => readonly Replica[],
  health: HealthCheckOptions,
  { log, now, tellsOfEngines, wantsEstimates, modelLists, onTick }: Upkeep,
): { close(): void } {
  const closing = new AbortController()
  const askForSizes = followCacheSizes(replicas, {
    ask: ({ engine, adapter, apiKey }, signal) => askCacheSize(engine, adapter, { apiKey, signal }),
    wantsEstimates,
    onUnknown: ({ id }) => log.info({ replica: id }, 'the engine does not say how large its cache is; asked again'),
    closing: closing.signal,
  })
  // with a single replica there is no choice to make
  const check = checkHealth(replicas, health, closing.signal, () => tellsOfEngines || replicas().length > 1)
  const watch = watchReplicas(replicas, log)
  const tick = (): void => {
    askForSizes(now())
    modelLists.tick()
    check(now())
    watch()
    for (const { replicaMirror, cacheConfig, adapter } of replicas()) {
      const { capacityTokens, pageTokens } = cacheConfig ?? {}
      replicaMirror.cache.tick({ capacityTokens, pageTokens, evictsInWhole: adapter.evictsInWhole })
    }
    onTick()
  }
  tick()
  const timer = setInterval(tick, tickMilliseconds)
  timer.unref()
  return {
    close: () => {
      clearInterval(timer)
      closing.abort()
    },
  }
}
