import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkRedis } from '#tools/doctor/check-redis.ts'
import type { Finding } from '#tools/doctor/finding.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { hasRedis, type RunningRedis, startRedis } from './redis-server.ts'

describe.skipIf(!hasRedis)('reprise doctor --redis (needs redis-server)', () => {
  let redis: RunningRedis

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.close())

  beforeEach(async () => {
    await redis.client.config('SET', 'maxmemory', '0')
    await redis.client.config('SET', 'requirepass', '')
  })

  const check = (url = redis.url, milliseconds = 2_000): Promise<Finding[]> =>
    checkRedis(url, milliseconds, new AbortController().signal)

  test('finds nothing wrong with one that is fine, and leaves nothing behind', async () => {
    const [finding] = await check()
    expect(finding).toMatchObject({ check: 'redis', level: 'ok', found: expect.stringContaining('takes writes') })
    expect(await redis.client.keys('*')).toEqual([])
  })

  test('says what to do about one that is full', async () => {
    await redis.client.config('SET', 'maxmemory', '1')
    expect(await check()).toMatchObject([{ level: 'fatal', found: expect.stringContaining('OOM') }])
  })

  test('says what to do about a wrong password, and repeats none', async () => {
    await redis.client.config('SET', 'requirepass', 'right')
    await redis.client.auth('right')
    const [finding] = await check(`redis://:wrong-one@127.0.0.1:${redis.port}`)
    expect(finding).toMatchObject({ level: 'fatal', fix: expect.stringContaining('USER:PASSWORD') })
    expect(JSON.stringify(finding)).not.toContain('wrong-one')
  })

  test('says what to do about one that is not there, speaks no TLS, or is no cluster', async () => {
    const nobody = `redis://127.0.0.1:${await findFreePort()}`
    expect(await check(nobody)).toMatchObject([{ level: 'fatal', found: expect.stringMatching(/ECONNREFUSED/) }])
    expect(await check(`rediss://127.0.0.1:${redis.port}`)).toMatchObject([{ level: 'fatal' }])
    expect(await check(`redis+cluster://127.0.0.1:${redis.port}`)).toMatchObject([
      { level: 'fatal', fix: expect.stringContaining('redis+cluster') },
    ])
  })

  test('says that a database is not there, and writes to no other', async () => {
    await redis.client.config('RESETSTAT')
    expect(await check(`redis://127.0.0.1:${redis.port}/99`)).toMatchObject([
      { level: 'fatal', found: expect.stringContaining('DB index'), fix: expect.stringContaining('databases') },
    ])
    expect(await redis.client.info('commandstats')).not.toContain('cmdstat_set:')
  })

  test('gives up on one that does not answer', async () => {
    redis.signal('SIGSTOP')
    const findings = check(redis.url, 500)
    expect(await findings).toMatchObject([{ level: 'fatal', found: expect.stringContaining('no answer') }])
    redis.signal('SIGCONT')
  })
})
