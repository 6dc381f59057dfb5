import { askCacheSize } from '#engine-adapters/cache-config.ts'
import { followCacheSizes } from '../replicas/cache-sizes.ts'
import { checkHealth } from '../replicas/health-checks.ts'
import type { Replica } from '../replicas/replica.ts'
import { watchReplicas } from '../replicas/replica-watch.ts'
import type { Pipeline } from '../request/pipeline.ts'

/** Short, because token-exact predictions for a newly started engine wait until it describes its cache. */
const tickMilliseconds = 100

/**
 * Runs what depends on time off the request path until closed: the periodic work for the replicas that there are, and
 * `onTick`. Does not keep the process alive.
 */
export function lookAfterReplicas(
  { settings, gain, recorder, modelLists, replicas, telemetry: { log, now } }: Pipeline,
  onTick: () => void,
): { close(): void } {
  const all = (): readonly Replica[] => replicas.all
  const { health, checks } = settings()
  const { intervalSeconds, timeoutSeconds = 2 } = checks
  const times = { intervalMilliseconds: intervalSeconds * 1000, timeoutMilliseconds: timeoutSeconds * 1000 }
  const closing = new AbortController()
  const askForSizes = followCacheSizes(all, {
    ask: ({ engine, adapter, apiKey }, signal) => askCacheSize(engine, adapter, { apiKey, signal }),
    wantsEstimates: () => settings().mode === 'shadow' || gain.isRead || recorder !== undefined,
    onUnknown: ({ id }) => log.info({ replica: id }, 'the engine does not say how large its cache is; asked again'),
    closing: closing.signal,
  })
  // with a single replica there is no choice to make, unless somebody is told when no engine accepts requests
  const check = checkHealth(all, times, closing.signal, () => health.readyz === 'engine' || all().length > 1)
  const watch = watchReplicas(all, log)
  const tick = (): void => {
    askForSizes(now())
    modelLists.tick()
    check(now())
    watch()
    for (const { replicaMirror, cacheConfig, adapter } of all()) {
      const { capacityTokens, pageTokens } = cacheConfig ?? {}
      replicaMirror.cache.tick({ capacityTokens, pageTokens, evictsInWhole: adapter.evictsInWhole })
    }
    onTick()
  }
  tick()
  const timer = setInterval(tick, tickMilliseconds).unref()
  return {
    close: () => {
      clearInterval(timer)
      closing.abort()
    },
  }
}
