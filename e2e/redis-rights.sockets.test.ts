import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { checkRedis, neededCommands } from '#tools/doctor/check-redis.ts'
import type { Finding } from '#tools/doctor/finding.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { SharedConversation, startSharedProxy } from './shared-conversation.ts'
import { postJson } from './start-test-proxy.ts'

/** Returns the rights that a Redis user needs according to docs/configuration.md. */
function documentedRights(): string[] {
  const docs = readFileSync(join(import.meta.dirname, '..', 'docs', 'configuration.md'), 'utf8')
  const [, rights] = /ACL SETUSER reprise (.*?)```/s.exec(docs)!
  return rights!.replaceAll(/['\\]/g, '').trim().split(/\s+/)
}

describe.skipIf(!hasRedis)('a user of Redis with no more than the documented rights (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []

  beforeAll(async () => {
    redis = await startRedis()
    engine = await startRecordingEngineDouble()
    engine.answer(answerPlainly)
  })

  afterAll(async () => {
    await engine.close()
    await redis.close()
  })

  beforeEach(async () => {
    await redis.client.flushall()
    await redis.client.acl('DELUSER', 'reprise')
    await redis.client.acl('SETUSER', 'reprise', ...documentedRights())
    await redis.client.acl('LOG', 'RESET')
  })

  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
  })

  const url = (database = ''): string => `redis://reprise:PASSWORD@127.0.0.1:${redis.port}${database}`
  const check = (): Promise<Finding[]> => checkRedis(url(), 2_000, new AbortController().signal)
  const refused = async (): Promise<unknown[]> => (await redis.client.acl('LOG')) as unknown[]

  async function start(): Promise<RunningProxy> {
    const shared = { url: url('/1'), namespace: 'test', ttlSeconds: 600, readMilliseconds: 2_000, share_tokens: true }
    const proxy = await startSharedProxy(engine, shared.url, { redis: shared })
    proxies.push(proxy)
    return proxy
  }

  /** Sends a turn whose blocks are given in `reprise.blocks`; a Lua script stores it. */
  const askExplicitly = async ({ url }: RunningProxy): Promise<void> => {
    const blocks = ['one', 'two', 'three'].map((text) => ({ text: `${text} `.repeat(50) }))
    const messages = [{ role: 'user', content: 'Of these:\n{{context}}\nWhat?' }]
    await (await postJson(`${url}/v1/chat/completions`, { model: 'm', messages, reprise: { blocks } })).arrayBuffer()
  }

  const mirroredBy = async ({ adminUrl }: RunningProxy): Promise<number> => {
    const { replicas } = (await (await fetch(`${adminUrl}/v1/mirror`)).json()) as { replicas: [{ requests: number }] }
    return replicas[0].requests
  }

  test('is refused nothing by proxies that share turns, mirrors and hot blocks, and forget them', async () => {
    const [one, other] = [await start(), await start()]
    const conversation = new SharedConversation(engine, 'rights')
    await conversation.bias(one, 'DCBA')
    for (const [turn, names] of ['ABCD', 'CBEA', 'FADG'].entries()) {
      await conversation.ask(turn % 2 === 0 ? one : other, names)
      await waitFor(async () => (await mirroredBy(one)) === turn + 2 && (await mirroredBy(other)) === turn + 2)
    }
    await askExplicitly(one)
    await waitFor(async () => (await mirroredBy(other)) === 5)
    const third = await start()
    await waitFor(async () => (await mirroredBy(third)) === 5)
    // the engine restarts, then clears its cache
    const [replica] = ((await (await fetch(`${one.adminUrl}/v1/mirror`)).json()) as { replicas: [{ replica: string }] })
      .replicas
    const report = (kind: string, body: object): Promise<Response> =>
      postJson(`${one.adminUrl}/v1/replicas/${replica.replica}/${kind}`, { generation: 'g', ...body })
    await report('snapshot', { sequence: 0, requests: [] })
    await report('events', { sequence: 1, events: [{ type: 'cleared' }] })
    await fetch(`${one.adminUrl}/v1/index`, { method: 'DELETE' })
    await waitFor(async () => (await mirroredBy(third)) === 0)
    // retries, because a request sent before the other proxy learns of the deletion is forgotten, too
    await waitFor(async () => {
      await conversation.ask(other, 'GABC')
      return (await mirroredBy(third)) > 0
    })
    const counts = await (await fetch(`${one.adminUrl}/metrics`)).text()
    expect(counts).not.toMatch(/reprise_fail_open_total\{reason="redis_write"\} [1-9]/)
    expect(await refused()).toEqual([])
  })

  test('is found to be right by doctor, which leaves nothing behind', async () => {
    expect(await check()).toMatchObject([{ check: 'redis', level: 'ok' }])
    expect(await refused()).toEqual([])
    expect(await redis.client.keys('*')).toEqual([])
  })

  test.each(neededCommands)('is found to be too small by doctor without %s', async (name) => {
    await redis.client.acl('SETUSER', 'reprise', `-${name}`)
    expect(await check()).toMatchObject([
      {
        check: 'redis',
        level: 'fatal',
        found: `the user has no right to ${name.toUpperCase()} on keys ~reprise:*`,
        fix: expect.stringContaining(` +${name} `),
      },
    ])
    expect(await redis.client.keys('*')).toEqual([])
  })

  test('without INFO is told what is not known of its Redis', async () => {
    await redis.client.acl('SETUSER', 'reprise', '-info')
    expect(await check()).toMatchObject([
      { check: 'redis', level: 'ok' },
      { check: 'redis_version', level: 'not_checked', fix: expect.stringContaining('+info') },
    ])
  })

  test('is found to be too small by doctor where it may not touch the keys', async () => {
    await redis.client.acl('SETUSER', 'reprise', 'resetkeys', '~other:*')
    expect(await check()).toMatchObject([{ level: 'fatal', fix: expect.stringContaining('~reprise:*') }])
  })
})
