import { expect, test } from 'vitest'
import { judgeRedis, neededCommands, type RedisAnswers } from './check-redis.ts'

const info = 'redis_version:7.2.4\r\nused_memory:1000\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n'
const good: RedisAnswers = { info, replies: [{ value: 'OK' }, { value: 'x' }, { value: 'x' }], milliseconds: 0.3 }
const levelsOf = (answers: Partial<RedisAnswers>): Record<string, string> =>
  Object.fromEntries(judgeRedis({ ...good, ...answers }).map(({ check, level }) => [check, level]))

test('a Redis that answers and takes writes is fine; where INFO may not be asked, that is said', () => {
  expect(levelsOf({})).toEqual({ redis: 'ok' })
  expect(levelsOf({ info: undefined })).toEqual({ redis: 'ok', redis_version: 'not_checked' })
})

test('an old version and a slow answer are warned of', () => {
  expect(levelsOf({ info: info.replace('7.2.4', '6.2.0') })).toMatchObject({ redis_version: 'warning' })
  expect(levelsOf({ milliseconds: 8 })).toMatchObject({ redis: 'ok', redis_latency: 'warning' })
})

test('a Redis that will refuse writes when it is full is warned of, and no other, however full', () => {
  const limited = info.replace('maxmemory:0', 'maxmemory:4000')
  const [, finding] = judgeRedis({ ...good, info: limited })
  expect(finding).toMatchObject({ check: 'redis_memory', level: 'warning' })
  expect(finding?.found).toBe('refuses writes once it is full, and is 25 % full (maxmemory-policy noeviction)')
  const evicting = limited.replace('noeviction', 'allkeys-lru').replace('used_memory:1000', 'used_memory:4000')
  expect(levelsOf({ info: evicting })).toEqual({ redis: 'ok' })
})

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", /raise maxmemory/],
  ["READONLY You can't write against a read only replica.", /redis\+sentinel/],
  ['MOVED 3999 127.0.0.1:6381', /redis\+cluster/],
  // a TLS handshake that a Redis without TLS does not answer
  ['connect ETIMEDOUT', /rediss:/],
  ["NOPERM User me has no permissions to run the 'eval' command", /docs\/configuration\.md/],
])('what it refuses is fatal, with what to do: %s', (message, fix) => {
  const [finding, ...others] = judgeRedis({ ...good, replies: [{ value: 'OK' }, { error: new Error(message) }] })
  expect(others).toEqual([])
  expect(finding).toMatchObject({ check: 'redis', level: 'fatal', fix: expect.stringMatching(fix) })
})

test('rights that are missing are fatal, and named as they have to be given', () => {
  const replies = neededCommands.map((name) =>
    ['expire', 'zrem'].includes(name)
      ? { error: new Error(`NOPERM User me has no permissions to run it`) }
      : { value: 1 },
  )
  expect(judgeRedis({ ...good, replies })).toEqual([
    {
      check: 'redis',
      level: 'fatal',
      found: 'the user has no right to ZREM, EXPIRE on keys ~reprise:*',
      fix: 'ACL SETUSER the user ~reprise:* +zrem +expire (all rights: docs/configuration.md)',
    },
  ])
})
