import type { EngineTls } from '#engine-adapters/engine-client.ts'
import { Cluster, Redis, type RedisOptions } from './ioredis.ts'
import type { RedisAddress } from './read-redis-url.ts'

/** A connection to a Redis, of whatever kind; it connects when told to. */
export type RedisClient = Redis | Cluster

const connectMilliseconds = 2_000
/** A connection over which no answer has come for so long is given up for another. */
const silentMilliseconds = 3_000
const longestRetryMilliseconds = 500

/** Creates a client that fails at once while it has no connection, and goes on connecting for ever. */
export function createRedisClient(address: RedisAddress, tls: EngineTls | undefined): RedisClient {
  const { kind, nodes, master, username, password, database } = address
  const common = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(address.isTls ? { tls: toTlsOptions(tls) } : {}),
    db: database,
    connectTimeout: connectMilliseconds,
    socketTimeout: silentMilliseconds,
    // what was not answered before a connection broke is sent again by those who wrote it, if it still counts
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // all that is said is understood by servers of either protocol, and by what stands in front of them
    protocol: 2,
    disableClientInfo: true,
  } as const satisfies RedisOptions
  if (kind === 'cluster') {
    return new Cluster([...nodes], {
      redisOptions: common,
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryAfter,
      slotsRefreshInterval: 5_000,
      // a certificate is made out for a name, which a resolved address is not
      ...(address.isTls ? { dnsLookup: (host, callback) => callback(null, host) } : {}),
    })
  }
  const alone = { ...common, lazyConnect: true, enableOfflineQueue: false, retryStrategy: retryAfter }
  if (kind === 'single') return new Redis({ ...alone, ...nodes[0]! })
  return new Redis({
    ...alone,
    sentinels: [...nodes],
    name: master!,
    sentinelRetryStrategy: retryAfter,
    ...(address.isTls ? { sentinelTLS: toTlsOptions(tls), enableTLSForSentinelMode: true } : {}),
    // a master that was replaced and came back as a replica refuses writes
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}

function retryAfter(attempt: number): number {
  return Math.min(longestRetryMilliseconds, 25 * 2 ** Math.min(attempt, 10))
}

function toTlsOptions({ serverName, ...pem }: EngineTls = {}): NonNullable<RedisOptions['tls']> {
  return { ...pem, ...(serverName === undefined ? {} : { servername: serverName }) }
}
