import { randomUUID } from 'node:crypto'
import type { Log } from '../common/log.ts'
import type { RedisFault } from '../common/reasons.ts'
import type { RedisConfig } from '../config/config.ts'
import { readTls } from '../config/read-files.ts'
import { readRedisUrl } from '../config/read-redis-url.ts'
import { createRedisClient } from './connection/create-redis-client.ts'
import { RedisConnection } from './connection/redis-connection.ts'
import { markRedisKeys } from './redis-keys.ts'
import { SharedHotBlocks } from './shared-hot-blocks.ts'

/** A Redis that proxies share, and the settings for what they keep there. */
export interface SharedRedis {
  readonly connection: RedisConnection
  readonly namespace: string
  readonly ttlSeconds: number
  readonly sharesTokens: boolean
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** request counts of blocks, over all proxies */
  readonly hot: SharedHotBlocks
  /** Sets the counter, by reason, for late replies, invalid values and failed writes. */
  countFaults(count: CountFault): void
}

/** How long what no request repeats is kept, in seconds. */
const day = 86_400

type CountFault = (reason: RedisFault) => void

/** Enough for every node of a fairly large cluster to have one. */
const clusterMarks = 24

/**
 * Creates the connection to Redis, which connects on `connect`. Throws a ConfigError if the URL or the certificates
 * cannot be used.
 */
export function createSharedRedis(config: RedisConfig & { readonly url: string }, log: Log): SharedRedis {
  const { url, namespace, ttlSeconds = day, share_tokens: sharesTokens = false } = config
  const address = readRedisUrl(url)
  const proxy = randomUUID()
  let count: CountFault = () => {}
  const connection = new RedisConnection(createRedisClient(address, readTls('redis.tls', config.tls)), {
    marks: markRedisKeys(namespace, proxy, address.kind === 'cluster' ? clusterMarks : 1),
    markSeconds: ttlSeconds,
    database: address.database,
    log,
    now: () => performance.now(),
    onLateRead: () => count('redis_late'),
    onRefused: () => count('redis_write'),
    readMilliseconds: config.readMilliseconds,
  })
  const onFault: CountFault = (reason) => count(reason)
  const hot = new SharedHotBlocks({ redis: connection, namespace, ttlSeconds, onFault })
  const countFaults = (next: CountFault): void => {
    count = next
  }
  return { connection, namespace, ttlSeconds, sharesTokens, proxy, hot, countFaults }
}
