import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../common/errors.ts'

/** Where a Redis server listens. */
interface RedisNode {
  readonly host: string
  readonly port: number
}

/** The parts of a Redis URL. */
export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  /** one for a single server; the sentinels, or some nodes of the cluster */
  readonly nodes: readonly RedisNode[]
  /** the sentinels' name for the master */
  readonly master: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
}

const shapes =
  'write redis://[USER:PASSWORD@]HOST:PORT[/DATABASE], redis+sentinel://HOST:PORT,…/MASTER[/DATABASE] or ' +
  'redis+cluster://HOST:PORT,…; with rediss instead of redis for TLS'
const redisUrl = /^(redis|rediss)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/
const redisPort = 6379
const sentinelPort = 26379

/**
 * Parses the URL of a Redis server, of sentinels or of a cluster. Throws a `ConfigError` if it is invalid. Errors never
 * repeat the URL, since it may hold a password.
 */
export function readRedisUrl(url: string): RedisAddress {
  const [, scheme, kind = 'single', login = '', hosts, path = ''] = redisUrl.exec(url) ?? []
  if (scheme === undefined) throw new ConfigError(`is not the URL of a Redis: ${shapes}`)
  const isSentinel = kind === 'sentinel'
  const nodes = hosts!.split(',').map((host) => readNode(host, isSentinel ? sentinelPort : redisPort))
  const [, master = '', behind = ''] = /^([^/]*)\/?(.*)$/.exec(path) ?? []
  const database = isSentinel ? behind : path
  if (kind === 'single' && nodes.length > 1) throw new ConfigError(`names several servers and not how: ${shapes}`)
  if (isSentinel && !master) throw new ConfigError(`does not say which master the sentinels watch: ${shapes}`)
  if (kind === 'cluster' && database) throw new ConfigError('names a database: a cluster has but one, leave it out')
  const [username, password] = readLogin(login)
  if (!/^\d{0,5}$/.test(database)) throw new ConfigError(`names a database that is no number: ${shapes}`)
  return {
    kind: kind as RedisAddress['kind'],
    isTls: scheme === 'rediss',
    nodes,
    master: isSentinel ? decode(master) : undefined,
    username,
    password,
    database: Number(database),
  }
}

/** Whether two URLs are given, and differ at most in user and password. Throws a `ConfigError` if one is invalid. */
export function areOneRedis(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false
  const [a, b] = [one, other].map((url) => ({ ...readRedisUrl(url), username: undefined, password: undefined }))
  return isDeepStrictEqual(a, b)
}

function readNode(text: string, standardPort: number): RedisNode {
  const [, host = '', port = String(standardPort)] = /^(\[[0-9a-fA-F:.]+\]|[^:\s[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) throw new ConfigError(`names a host or port that is none: ${shapes}`)
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

/** Parses `USER:PASSWORD`. Without a colon it is a user, as in other URLs; the user before a colon may be empty. */
function readLogin(login: string): [username: string | undefined, password: string | undefined] {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? []
  return [decode(username) || undefined, decode(password) || undefined]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ConfigError('holds a % that is no escape: write %25 for it')
  }
}
