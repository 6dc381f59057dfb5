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

test('an old version, a slow answer and little room are warned of', () => {
  expect(levelsOf({ info: info.replace('7.2.4', '6.2.0') })).toMatchObject({ redis_version: 'warning' })
  expect(levelsOf({ milliseconds: 8 })).toMatchObject({ redis: 'ok', redis_latency: 'warning' })
  expect(levelsOf({ info: info.replace('maxmemory:0', 'maxmemory:1050') })).toMatchObject({ redis_memory: 'warning' })
})

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", /raise maxmemory/],
  ["READONLY You can't write against a read only replica.", /redis\+sentinel/],
  ['MOVED 3999 127.0.0.1:6381', /redis\+cluster/],
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
