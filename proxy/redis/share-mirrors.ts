import type { EngineConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { RedisFault } from '../reasons.ts'
import type { Replica } from '../replicas/replica.ts'
import type { SharedRedis } from './create-shared-redis.ts'
import { SharedMirror } from './mirror/shared-mirror.ts'
import { SharedReuse } from './shared-reuse.ts'
import { SharedTokens } from './shared-tokens.ts'

/** The mirrors that proxies share. */
interface SharedMirrors {
  /** Starts to share them. Redis need not be connected yet. */
  start(): void
  /** Writes what it can within the given time, then stops. */
  close(milliseconds: number): Promise<void>
}

/**
 * Shares the mirrors of these engines' replicas through Redis. Omits an engine whose own events are followed: every
 * proxy receives those itself, and evicted blocks cannot be tied to another proxy's requests. Also omits an embedded
 * engine, which belongs to no other process and is not configured.
 */
export function shareMirrors(
  replicas: readonly Replica[],
  engines: readonly EngineConfig[],
  { connection, namespace, ttlSeconds, sharesTokens, proxy }: SharedRedis,
  { failOpen }: Pick<Metrics, 'failOpen'>,
  log: Log,
): SharedMirrors {
  const shared = replicas
    .filter(({ id }) => engines.some((engine) => engine.id === id && engine.eventsUrl === undefined))
    .flatMap((replica) => {
      const onFault = (reason: RedisFault): void => failOpen.inc({ reason })
      const common = { redis: connection, namespace, ttlSeconds, onFault }
      const { replicaMirror } = replica
      const onError = (error: unknown): void => {
        onFault('redis_value')
        log.error({ error, replica: replica.id }, 'sharing the mirror failed: it begins again')
      }
      const mirror = new SharedMirror({ ...common, onError, replicaMirror, proxy, wallClock: Date.now })
      const reuse = replica.adapter.canReuseAnywhere ? [new SharedReuse({ ...common, replicaMirror, proxy })] : []
      const tokens = sharesTokens ? [new SharedTokens({ ...common, replica })] : []
      return [mirror, ...reuse, ...tokens]
    })
  return {
    start: () => {
      for (const mirror of shared) mirror.start()
    },
    close: async (milliseconds) => {
      await Promise.all(shared.map((mirror) => mirror.close(milliseconds)))
    },
  }
}
