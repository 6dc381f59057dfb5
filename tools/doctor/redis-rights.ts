import type { RedisCommand, RedisReply } from '#proxy/redis/connection/redis-command.ts'

type Arguments = RedisCommand['args']

/** The Redis commands that the proxy and its scripts use, each with harmless arguments. */
const commands: Readonly<Record<string, (key: string) => Arguments>> = {
  get: (key) => [key],
  set: (key) => [`${key}:text`, 'x', 'EX', 60],
  exists: (key) => [key],
  eval: (key) => ['return 1', 1, key],
  hset: (key) => [`${key}:hash`, 'a', '1'],
  hget: (key) => [`${key}:hash`, 'a'],
  hmget: (key) => [`${key}:hash`, 'a'],
  hvals: (key) => [`${key}:hash`],
  hlen: (key) => [`${key}:hash`],
  hincrby: (key) => [`${key}:hash`, 'b', 1],
  hdel: (key) => [`${key}:hash`, 'a', 'b'],
  zadd: (key) => [`${key}:set`, 1, 'a'],
  zrange: (key) => [`${key}:set`, 0, -1],
  zincrby: (key) => [`${key}:set`, 1, 'b'],
  zremrangebyrank: (key) => [`${key}:set`, 1, 0],
  zrem: (key) => [`${key}:set`, 'a'],
  xadd: (key) => [`${key}:feed`, 'MAXLEN', '~', 1, '*', 'v', '1'],
  expire: (key) => [`${key}:feed`, 60],
  xread: (key) => ['COUNT', 1, 'STREAMS', `${key}:feed`, '0-0'],
  xrevrange: (key) => [`${key}:feed`, '+', '-', 'COUNT', 1],
  del: keysBeside,
  unlink: keysBeside,
}

function keysBeside(key: string): string[] {
  return ['text', 'hash', 'set', 'feed'].map((name) => `${key}:${name}`)
}

/** The commands that the Redis user needs on the keys of reprise. */
export const neededCommands: readonly string[] = Object.keys(commands)

/** All these commands, on keys of one slot that `forgetProbes` removes. */
export function probeRights(key: string): RedisCommand[] {
  return Object.entries(commands).map(([name, toArguments]) => ({ key, name, args: toArguments(key) }))
}

/** Removes the remaining keys, with whichever command the user has the right to. */
export function forgetProbes(key: string): RedisCommand[] {
  return ['unlink', 'del'].map((name) => ({ key, name, args: [key, ...keysBeside(key)] }))
}

/** The commands that were refused for lack of rights, according to the replies to `probeRights`. */
export function findMissingRights(replies: readonly RedisReply[]): string[] {
  return neededCommands.filter((_, i) => {
    const reply = replies[i]
    return reply !== undefined && 'error' in reply && reply.error.message.startsWith('NOPERM')
  })
}
