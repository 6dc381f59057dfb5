import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import { readRedisUrl } from '#proxy/config/read-redis-url.ts'
import { createRedisClient, type RedisClient } from '#proxy/redis/connection/create-redis-client.ts'
import type { RedisCommand, RedisReply } from '#proxy/redis/connection/redis-command.ts'
import { runCommands } from '#proxy/redis/connection/run-commands.ts'
import { type Finding, fatal, notChecked, ok, warning } from './finding.ts'

const probes = 21
const oldestVersion = 7
/** The longest that a request waits for Redis. */
const longestMilliseconds = 5
/** A read, a write and a script. */
const vital = 3

/**
 * The Redis commands that the proxy and its scripts use, each with harmless arguments, on keys of one slot: first those
 * without which nothing works.
 */
const rightsProbes = [
  'get KEY',
  'set KEY:text x EX 60',
  'eval return 1 KEY',
  'zadd KEY:set 1 a',
  'zrange KEY:set 0 -1',
  'zrem KEY:set a',
  'xadd KEY:feed MINID ~ 0 * v 1',
  'expire KEY:feed 60',
  'xread COUNT 1 STREAMS KEY:feed 0-0',
  'del KEY:text KEY:set KEY:feed',
  'unlink KEY:text KEY:set KEY:feed',
]
/** Removes the remaining keys, with whichever command the user has the right to. */
const forgetting = ['unlink', 'del'].map((name) => `${name} KEY KEY:text KEY:set KEY:feed`)

/** The commands that the Redis user needs on the keys of reprise. */
export const neededCommands: readonly string[] = rightsProbes.map((probe) => probe.split(' ')[0]!)

/** Checks that a Redis can be reached, has a supported version, accepts writes, and answers fast enough. */
export async function checkRedis(
  url: string,
  timeoutMilliseconds: number,
  signal: AbortSignal,
  tls?: EngineTls,
): Promise<Finding[]> {
  const { database } = readRedisUrl(url)
  const client = createRedisClient(readRedisUrl(url), tls)
  let fault: Error | undefined
  // a cluster reports only that it has no node left; its nodes report why
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    fault = error.lastNodeError ?? error
  })
  const within = <T>(work: Promise<T>): Promise<T | undefined> =>
    Promise.race([work, pause(timeoutMilliseconds, undefined, { signal })])
  const unreached = (why: Error): Finding[] => [judgeFault('cannot be reached', why)]
  try {
    const connected = client.connect().then(
      () => true,
      (error) => {
        // this error says only that there is no connection; the event before it says why
        fault ??= error
      },
    )
    if (!(await within(connected))) return unreached(fault ?? new Error(`no answer in ${timeoutMilliseconds / 1000} s`))
    return (await within(ask(client, database))) ?? unreached(new Error('connected, but does not answer'))
  } finally {
    client.disconnect()
  }
}

/** What a Redis reports about itself, and its replies to the commands that the proxy uses. */
export interface RedisAnswers {
  /** INFO; undefined if the user has no right to it */
  readonly info: string | undefined
  /** to each of `neededCommands` */
  readonly replies: readonly RedisReply[]
  /** median of the round trips */
  readonly milliseconds: number
}

async function ask(client: RedisClient, database: number): Promise<Finding[]> {
  // the client stays in database 0 if there is no database with that number
  const selected = database > 0 ? await runCommands(client, [{ key: '', name: 'select', args: [database] }]) : []
  for (const reply of selected) if ('error' in reply) return [judgeFault('refuses commands', reply.error)]
  const key = `reprise:doctor:{${randomUUID()}}`
  const run = (commands: readonly string[]): Promise<RedisReply[]> =>
    runCommands(
      client,
      commands.map((command): RedisCommand => {
        const [name, ...args] = command.split(' ').map((word) => word.replace('KEY', key))
        return { key, name: name!, args }
      }),
    )
  const replies = await run(rightsProbes)
  const taken: number[] = []
  for (let i = 0; i < probes; i++) {
    const started = performance.now()
    await run(['get KEY'])
    taken.push(performance.now() - started)
  }
  const info = await client.info().catch(() => undefined)
  await run(forgetting)
  return judgeRedis({ info, replies, milliseconds: taken.toSorted((a, b) => a - b)[probes >> 1]! })
}

export function judgeRedis({ info, replies, milliseconds }: RedisAnswers): Finding[] {
  const faults = replies.map((reply) => ('error' in reply ? reply.error : undefined))
  const missing = neededCommands.filter((_, i) => faults[i]?.message.startsWith('NOPERM'))
  if (missing.length > 0) return [judgeRights(missing)]
  const refused = faults.slice(0, vital).find((fault) => fault !== undefined)
  if (refused) return [judgeFault('refuses commands', refused)]
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info ?? '')?.[1]
  const took = `${milliseconds.toFixed(1)} ms`
  const findings = [ok('redis', `takes writes, answers in ${took}`)]
  if (info === undefined) {
    const found = 'INFO is refused: its version and its free memory are unknown'
    findings.push(notChecked('redis_version', found, 'ACL SETUSER the user +info'))
  }
  const version = field('redis_version')
  if (version !== undefined && Number.parseInt(version, 10) < oldestVersion) {
    findings.push(warning('redis_version', `is version ${version}`, `use Redis ${oldestVersion} or newer, or Valkey`))
  }
  if (milliseconds > longestMilliseconds) {
    const found = `answers in ${took}: a request waits ${longestMilliseconds} ms at most, and goes on without it`
    findings.push(warning('redis_latency', found, 'run Redis nearer to the proxy, in the same zone at least'))
  }
  const limit = Number(field('maxmemory'))
  // a full Redis that evicts is as it should be
  if (limit > 0 && field('maxmemory_policy') === 'noeviction') {
    const full = Math.round((100 * Number(field('used_memory'))) / limit)
    const found = `refuses writes once it is full, and is ${full} % full (maxmemory-policy noeviction)`
    findings.push(warning('redis_memory', found, 'set a maxmemory-policy that evicts: allkeys-lru'))
  }
  return findings
}

function judgeRights(missing: readonly string[]): Finding {
  const names = missing.map((name) => name.toUpperCase()).join(', ')
  const fix = `ACL SETUSER the user ~reprise:* ${missing.map((name) => `+${name}`).join(' ')} (all rights: docs/configuration.md)`
  return fatal('redis', `the user has no right to ${names} on keys ~reprise:*`, fix)
}

function judgeFault(what: string, { message }: Error): Finding {
  const fix = fixes.find(([pattern]) => pattern.test(message))?.[1] ?? otherwise
  return fatal('redis', `${what}: ${message || 'refused'}`, fix)
}

const fixes: readonly (readonly [RegExp, string])[] = [
  [/^OOM/, 'raise maxmemory, or set a maxmemory-policy that evicts (allkeys-lru)'],
  [/^ERR DB index/, 'name a database that it has (redis://HOST:PORT/DATABASE), or raise its `databases`'],
  [/^READONLY/, 'give the master, or sentinels: redis+sentinel://HOST:PORT/MASTER'],
  [/^(MOVED|CLUSTERDOWN)|cluster support/i, 'use redis+cluster://HOST:PORT for a cluster, and only for a cluster'],
  [/^NOPERM/, 'give the user the rights of docs/configuration.md, on keys ~reprise:*'],
  [/NOAUTH|WRONGPASS|password/i, 'correct user and password: redis://USER:PASSWORD@HOST:PORT'],
  [
    /certificate|TLS|SSL|wrong version number/i,
    'write rediss:// if Redis speaks TLS; name its authority in redis.tls.ca of a file that --config reads',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'correct the name of the host'],
  [/sentinel/i, 'correct the name of the master, and see whether the sentinels know it'],
]
const otherwise = 'start Redis, or correct the URL: host, port, and rediss:// for TLS alone'
