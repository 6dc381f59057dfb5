import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { createDraw, drawDocuments, retrieve } from '#proxy/templates/traffic/sightings.fixture.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

interface Described {
  readonly id: string
  readonly state: string
  readonly requests: number
}

const subjects = ['ferry', 'salt', 'mill', 'bee', 'bell', 'slate', 'guild', 'court']
const blocks = subjects.map((subject) => `The ${subject} of Karvik is known to all, and nobody knows who made it so.`)

describe.skipIf(!hasRedis)('templates in Redis (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []

  const start = async (): Promise<RunningProxy> => {
    const shared = { url: redis.url, namespace: 'test', ttlSeconds: 600 }
    const proxy = await startTestProxy({ url: engine.url }, { mode: 'ask', redis: shared })
    proxies.push(proxy)
    return proxy
  }
  const send = async ({ url }: RunningProxy, i: number): Promise<void> => {
    const own = Array.from({ length: 4 }, (_, place) => blocks[(i + place * 3) % blocks.length]!)
    await (await postJson(`${url}/v1/chat/completions`, ragRequest(`Why ${i}?`, own))).text()
  }
  const templatesOf = async ({ adminUrl }: RunningProxy): Promise<Described[]> =>
    ((await (await fetch(`${adminUrl}/v1/templates`)).json()) as { templates: Described[] }).templates
  const change = ({ adminUrl }: RunningProxy, id: string, init: RequestInit): Promise<Response> =>
    fetch(`${adminUrl}/v1/templates/${id}`, init)

  const faultsOf = async ({ adminUrl }: RunningProxy): Promise<number> => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
    return Number(/reprise_fail_open_total\{reason="redis_value"\} (\d+)/.exec(metrics)?.[1] ?? 0)
  }

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.client.flushall()
    engine = await startRecordingEngineDouble()
    engine.answer(answerPlainly)
  })
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
    await engine.close()
  })

  test('evidence and what people said outlive a restart, and reach other proxies', async () => {
    const first = await start()
    for (let i = 0; i < 6; i++) await send(first, i)
    await waitFor(async () => (await templatesOf(first)).length === 1)
    const [{ id }] = (await templatesOf(first)) as [Described]
    await change(first, id, { method: 'PUT', body: '{"state":"on"}' })
    await proxies.shift()!.close()
    const second = await start()
    await waitFor(async () => (await templatesOf(second))[0]?.state === 'on')
    expect(await templatesOf(second)).toMatchObject([{ id, state: 'on', requests: 6 }])
    for (const key of await redis.client.keys('reprise:test:templates:*')) {
      expect(await redis.client.ttl(key)).toBeGreaterThan(500)
    }
  })

  test('borders that were learnt outlive a restart, and reach other proxies', { timeout: 120_000 }, async () => {
    const draw = createDraw(7)
    const documents = drawDocuments(40, draw)
    const sendUnknown = async ({ url }: RunningProxy): Promise<void> => {
      const { items, question } = retrieve(documents, 6, draw)
      const listed = items.map((text) => `~~ zeki\n${text}\n~~ mura`).join('\n\n')
      const content = `Qua dro vex.\n\n${listed}\n\nTrifer: ${question}`
      await (await postJson(`${url}/v1/chat/completions`, { messages: [{ role: 'user', content }] })).text()
    }
    const first = await start()
    await waitFor(async () => {
      await sendUnknown(first)
      return ((await templatesOf(first))[0]?.requests ?? 0) > 8
    }, 90_000)
    const [{ requests }] = (await templatesOf(first)) as [Described]
    await proxies.shift()!.close()
    const second = await start()
    await waitFor(async () => (await templatesOf(second))[0]?.requests === requests)
    await sendUnknown(second)
    await waitFor(async () => (await templatesOf(second))[0]?.requests === requests + 1)
    expect(await templatesOf(second)).toMatchObject([{ found_by: 'learnt' }])
  })

  test('what is forgotten stays forgotten', async () => {
    const first = await start()
    for (let i = 0; i < 6; i++) await send(first, i)
    await waitFor(async () => (await templatesOf(first)).length === 1)
    const [{ id }] = (await templatesOf(first)) as [Described]
    await proxies.shift()!.close()
    const second = await start()
    await waitFor(async () => (await templatesOf(second)).length === 1)
    expect((await change(second, id, { method: 'DELETE' })).status).toBe(200)
    await proxies.shift()!.close()
    const third = await start()
    await waitFor(async () => (await redis.client.keys(`*${id}*`)).length === 0)
    expect(await templatesOf(third)).toEqual([])
  })

  test('anything else in its keys is counted, and no template', async () => {
    const key = 'reprise:test:templates:{templates}'
    await redis.client.set(`${key}:said`, 'no JSON')
    const proxy = await start()
    await waitFor(async () => (await faultsOf(proxy)) === 1)
    expect(await templatesOf(proxy)).toEqual([])
  })

  test('evidence of the version before, of no model, is not read', async () => {
    const first = await start()
    for (let i = 0; i < 9; i++) await send(first, i)
    await waitFor(async () => (await templatesOf(first))[0]?.requests === 9)
    await proxies.shift()!.close()
    const key = 'reprise:test:templates:{templates}'
    const [record] = await redis.client.keys(`${key}:of:*`)
    const { place, ...known } = JSON.parse((await redis.client.get(record!))!)
    const { model, ...placeBefore } = place
    expect(model).toBe('m')
    const before = { ...known, id: 'abcdefghijkl', place: placeBefore }
    await redis.client.zadd(`${key}:counts:3`, 9, before.id)
    await redis.client.set(`${key}:of:${before.id}:3`, JSON.stringify(before))
    const second = await start()
    await waitFor(async () => (await templatesOf(second)).length === 1)
    expect(await faultsOf(second)).toBe(0)
  })

  test.each([
    ['have expired', 0],
    ['cannot be read', 40],
  ])('more templates than are read at once that %s hide no other', async (_, unreadable) => {
    const first = await start()
    for (let i = 0; i < 6; i++) await send(first, i)
    await waitFor(async () => (await templatesOf(first)).length === 1)
    await proxies.shift()!.close()
    const [counts] = await redis.client.keys('*:counts:*')
    for (let i = 0; i < 40; i++) {
      const id = `other${i}`.padEnd(12, 'x')
      await redis.client.zadd(counts!, 1, id)
      if (i < unreadable) await redis.client.set(counts!.replace(':counts:', `:of:${id}:`), 'no JSON')
    }
    const second = await start()
    await waitFor(async () => (await templatesOf(second))[0]?.requests === 6, 15_000)
    expect(await faultsOf(second)).toBe(unreadable)
  })
})
