import type { Log } from '../common/log.ts'
import type { RedisFault } from '../common/reasons.ts'
import type { Companion } from '../replicas/fleet.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { SharedRedis } from './create-shared-redis.ts'
import { SharedMirror } from './mirror/shared-mirror.ts'
import { mirrorRedisKeys } from './redis-keys.ts'
import { SharedTokens } from './shared-tokens.ts'

/** How many keys are removed with one command. */
const keysAtOnce = 256

/**
 * Shares the mirror of a replica through Redis. Not for an engine whose own events are followed: every proxy receives
 * those itself, and evicted blocks cannot be tied to another proxy's requests. Redis need not be connected yet; a proxy
 * that still has a replica dropped here writes its part again.
 */
export function shareMirror(
  replica: Replica,
  { connection, namespace, ttlSeconds, sharesTokens }: SharedRedis,
  { failOpen }: Pick<Metrics, 'failOpen'>,
  log: Log,
): Companion {
  const onFault = (reason: RedisFault): void => failOpen.inc({ reason })
  const common = { redis: connection, namespace, ttlSeconds, onFault }
  const { replicaMirror } = replica
  const onError = (error: unknown): void => {
    onFault('redis_value')
    log.error({ error, replica: replica.id }, 'sharing the mirror failed: it begins again')
  }
  const mirror = new SharedMirror({ ...common, onError, replicaMirror, wallClock: Date.now })
  const tokens = sharesTokens ? [new SharedTokens({ ...common, replica })] : []
  const shared = [mirror, ...tokens]
  const close = async (milliseconds: number): Promise<void> => {
    await Promise.all(shared.map((part) => part.close(milliseconds)))
  }
  return {
    start: () => {
      for (const part of shared) part.start()
    },
    close,
    drop: async () => {
      await close(0)
      if (!connection.isUp) return
      const { log: key, tokens: keyOf } = mirrorRedisKeys(namespace, replica.id)
      // whoever finds no log writes what it knows again; what is left expires
      const keys = [...Array.from(replica.cache.tokens.known(), keyOf), key]
      for (let at = 0; at < keys.length; at += keysAtOnce) {
        const args = keys.slice(at, at + keysAtOnce)
        await connection.write([{ key: args[0]!, name: 'unlink', args }])
      }
    },
  }
}
