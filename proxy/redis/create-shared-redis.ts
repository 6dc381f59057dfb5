import { randomUUID } from 'node:crypto'
import { readRedisTls } from '../access/read-certificates.ts'
import type { RedisConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import { createRedisClient } from './connection/create-redis-client.ts'
import { readRedisUrl } from './connection/read-redis-url.ts'
import { RedisConnection } from './connection/redis-connection.ts'
import { markRedisKeys } from './redis-keys.ts'
import { SharedHotBlocks } from './shared-hot-blocks.ts'

/** A Redis that proxies share, and what they keep there under which names. */
export interface SharedRedis {
  readonly connection: RedisConnection
  readonly namespace: string
  readonly ttlSeconds: number
  readonly sharesTokens: boolean
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** how often blocks are asked for, of all proxies together */
  readonly hot: SharedHotBlocks
  /** From now on counts, by reason, what requests did not wait for, and faults of what is kept here. */
  countFaults(count: CountFault): void
}

type CountFault = (reason: 'redis_late' | 'redis_value' | 'redis_write') => void

/** Enough that every node of a cluster of some size has one. */
const clusterMarks = 24

/** Creates the connection to Redis; it connects when told to. Throws a ConfigError when its certificates cannot be used. */
export function createSharedRedis(config: RedisConfig, log: Log): SharedRedis {
  const { url, namespace, ttlSeconds, sharesTokens = false } = config
  const address = readRedisUrl(url)
  const proxy = randomUUID()
  let count: CountFault = () => {}
  const connection = new RedisConnection(createRedisClient(address, readRedisTls(config.tls)), {
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
  const hot = new SharedHotBlocks({ redis: connection, namespace, ttlSeconds, proxy, onFault })
  const countFaults = (next: CountFault): void => {
    count = next
  }
  return { connection, namespace, ttlSeconds, sharesTokens, proxy, hot, countFaults }
}
