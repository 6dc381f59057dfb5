import { isIP } from 'node:net'
import { checkServerIdentity as isOf } from 'node:tls'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { RedisAddress } from '../../config/read-redis-url.ts'
import { Cluster, Redis, type RedisOptions } from './ioredis.ts'

/** A client of a Redis of any kind. It connects on `connect`. */
export type RedisClient = Redis | Cluster

const connectMilliseconds = 2_000
/** Reconnect after this long without a reply. */
const silentMilliseconds = 3_000
const longestRetryMilliseconds = 500

/** Creates a client that fails commands at once while it has no connection, and keeps reconnecting for ever. */
export function createRedisClient(address: RedisAddress, tls: EngineTls | undefined): RedisClient {
  const { kind, nodes, master, username, password, database } = address
  const common = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(address.isTls ? { tls: toTlsOptions(tls, address) } : {}),
    db: database,
    connectTimeout: connectMilliseconds,
    socketTimeout: silentMilliseconds,
    // commands unanswered when a connection broke are sent again by their writers, if they still matter
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // servers of either protocol, and proxies in front of them, understand this
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
      // certificates are issued for names, not for resolved addresses
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
    ...(address.isTls ? { sentinelTLS: toTlsOptions(tls, address), enableTLSForSentinelMode: true } : {}),
    // a former master that came back as a replica refuses writes
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}

/** Sets with which login and certificates a client connects from now on. */
export function renewClient(
  client: RedisClient,
  { username, password }: Pick<RedisAddress, 'username' | 'password'>,
  tls: EngineTls | undefined,
): void {
  const isCluster = client instanceof Cluster
  const nodes = isCluster ? client.nodes('all').map(({ options }) => options) : []
  for (const options of [isCluster ? client.options.redisOptions! : client.options, ...nodes]) {
    Object.assign(options, { username, password })
    if (options.tls) Object.assign(options.tls, tls)
  }
}

function retryAfter(attempt: number): number {
  return Math.min(longestRetryMilliseconds, 25 * 2 ** Math.min(attempt, 10))
}

/** Servers name each other by addresses: there, the certificate of a host that the URL names counts, too. */
function toTlsOptions(tls: EngineTls | undefined, { nodes }: RedisAddress): NonNullable<RedisOptions['tls']> {
  const checkServerIdentity: typeof isOf = (host, certificate) => {
    const fault = isOf(host, certificate)
    const isNamed = isIP(host) !== 0 && nodes.some((node) => isOf(node.host, certificate) === undefined)
    return isNamed ? undefined : fault
  }
  return { ...tls, checkServerIdentity }
}
