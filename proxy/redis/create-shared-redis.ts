import { randomUUID } from 'node:crypto'
import { readRedisTls } from '../access/read-certificates.ts'
import type { RedisConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import { createRedisClient } from './create-redis-client.ts'
import { readRedisUrl } from './read-redis-url.ts'
import { RedisConnection } from './redis-connection.ts'
import { markRedisKeys } from './redis-keys.ts'

/** A Redis that proxies share, and what they keep there under which names. */
export interface SharedRedis {
  readonly connection: RedisConnection
  readonly namespace: string
  readonly ttlSeconds: number
  readonly sharesTokens: boolean
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** From now on counts, by reason, what requests did not wait for. */
  countLate(count: (reason: 'redis_late') => void): void
}

/** Enough that every node of a cluster of some size has one. */
const clusterMarks = 24

/** Creates the connection to Redis; it connects when told to. Throws a ConfigError when its certificates cannot be used. */
export function createSharedRedis(config: RedisConfig, log: Log): SharedRedis {
  const { url, namespace, ttlSeconds, sharesTokens = false } = config
  const address = readRedisUrl(url)
  const proxy = randomUUID()
  let count: (reason: 'redis_late') => void = () => {}
  const connection = new RedisConnection(createRedisClient(address, readRedisTls(config.tls)), {
    marks: markRedisKeys(namespace, proxy, address.kind === 'cluster' ? clusterMarks : 1),
    markSeconds: ttlSeconds,
    log,
    now: () => performance.now(),
    onLateRead: () => count('redis_late'),
    readMilliseconds: config.readMilliseconds,
  })
  const countLate = (next: typeof count): void => {
    count = next
  }
  return { connection, namespace, ttlSeconds, sharesTokens, proxy, countLate }
}
