import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { metricOf, namesIn } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { SharedConversation, startSharedProxy } from './shared-conversation.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

describe.skipIf(!hasRedis)('conversations that proxies share through Redis (needs redis-server)', () => {
  let redis: RunningRedis
  let engine: RecordingEngineDouble
  const proxies: RunningProxy[] = []

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.close())

  beforeEach(async () => {
    await redis.client.flushall()
    engine = await startRecordingEngineDouble()
  })

  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
    await engine.close()
  })

  async function start(url: string | undefined = redis.url): Promise<RunningProxy> {
    const proxy = await startSharedProxy(engine, url)
    proxies.push(proxy)
    return proxy
  }

  /** Waits until Redis has all turns: two keys each, one for the turn with its documents and one for it alone. */
  const shared = (turns: number): Promise<void> =>
    waitFor(async () => (await redis.client.keys('reprise:test:turn:*')).length >= 2 * turns)

  test('every turn keeps its bytes when the proxy is started anew', async () => {
    const conversation = new SharedConversation(engine, 'restart')
    const first = await start()
    await conversation.bias(first, 'DCBA')
    for (const names of ['ABCD', 'CBEA', 'FADG']) await conversation.ask(first, names)
    expect(namesIn(conversation.sent[1]!)).toBe('DCBA')
    await first.close()
    proxies.length = 0
    const second = await start()
    // without the shared state, it would reorder the first turn by this
    await conversation.bias(second, 'BADC')
    for (const names of ['GEHB', 'IHFC']) await conversation.ask(second, names)
    expect(await metricOf(second.adminUrl, 'reprise_redis_up')).toBe(1)
  })

  test('without Redis a proxy that is started anew orders past turns by what it holds: the test above can fail', async () => {
    const conversation = new SharedConversation(engine, 'restart')
    const first = await start()
    await conversation.bias(first, 'DCBA')
    await conversation.ask(first, 'ABCD')
    const forgetful = await startTestProxy({ url: engine.url })
    proxies.push(forgetful)
    await conversation.bias(forgetful, 'BADC')
    await expect(conversation.ask(forgetful, 'GEHB')).rejects.toThrow(/to deeply equal/)
  })

  test('every turn keeps its bytes when requests go to two proxies by turns', async () => {
    const conversation = new SharedConversation(engine, 'two')
    const [one, other] = [await start(), await start()]
    await conversation.bias(one, 'DCBA')
    await conversation.bias(other, 'BADC')
    await shared(2)
    for (const [turn, names] of ['ABCD', 'CBEA', 'FADG', 'GEHB', 'IHFC'].entries()) {
      await conversation.ask(turn % 2 === 0 ? one : other, names)
      await shared(3 + turn)
    }
  })

  test('explicit blocks come back in past turns from another proxy', async () => {
    const [one, other] = [await start(), await start()]
    const messages = [{ role: 'user', content: '{{context}}\n\nWhat of it?' }]
    const blocks = ['first block', 'second block'].map((text) => ({ text }))
    const url = (proxy: RunningProxy): string => `${proxy.url}/v1/chat/completions`
    await postJson(url(one), { model: 'm', messages, reprise: { blocks, conversation: 'c' } })
    const sent = JSON.parse(engine.requests.at(-1)!.body.toString()) as { messages: { content: string }[] }
    await waitFor(async () => (await redis.client.keys('reprise:test:turn:*')).length === 3)
    const later = [...messages, { role: 'assistant', content: 'so' }, { role: 'user', content: 'And?' }]
    await postJson(url(other), { model: 'm', messages: later, reprise: { conversation: 'c' } })
    const body = JSON.parse(engine.requests.at(-1)!.body.toString()) as { messages: { content: string }[] }
    expect(body.messages[0]!.content).toBe(sent.messages[0]!.content)
    expect(body.messages[0]!.content).toContain('second block')
  })

  test('what tenants sent is kept apart', async () => {
    const [one, other] = [await start(), await start()]
    const ask = async (proxy: RunningProxy, key: string): Promise<void> => {
      const content = '{{context}}\n\nWhat of it?'
      const messages = [
        { role: 'user', content },
        { role: 'assistant', content: 'so' },
        { role: 'user', content: 'And?' },
      ]
      const init = { headers: { authorization: `Bearer ${key}` } }
      await postJson(`${proxy.url}/v1/chat/completions`, { model: 'm', messages, reprise: { conversation: 'c' } }, init)
    }
    const reprise = { blocks: [{ text: 'secret block' }], conversation: 'c' }
    const messages = [{ role: 'user', content: '{{context}}\n\nWhat of it?' }]
    const init = { headers: { authorization: 'Bearer mine' } }
    await postJson(`${one.url}/v1/chat/completions`, { model: 'm', messages, reprise }, init)
    await waitFor(async () => (await redis.client.keys('reprise:test:turn:*')).length === 3)
    await ask(other, 'theirs')
    expect(engine.requests.at(-1)!.body.toString()).not.toContain('secret')
    await ask(other, 'mine')
    expect(engine.requests.at(-1)!.body.toString()).toContain('secret')
  })

  test('explicit blocks are in Redis under their conversation and salt only', async () => {
    const [one, other] = [await start(), await start()]
    const messages = [{ role: 'user', content: '{{context}}\n\nWhat of it?' }]
    const blocks = [{ text: 'secret block' }]
    const ask = async (proxy: RunningProxy, body: object): Promise<string> => {
      await (await postJson(`${proxy.url}/v1/chat/completions`, { model: 'm', ...body })).text()
      return engine.requests.at(-1)!.body.toString()
    }
    await ask(one, { messages, reprise: { blocks } })
    // long enough for it to have been written, if it were remembered
    await pause(500)
    expect(await redis.client.keys('reprise:test:turn:*')).toEqual([])
    const reprise = { conversation: 'c' }
    await ask(one, { messages, reprise: { blocks, ...reprise }, cache_salt: 'mine' })
    await waitFor(async () => (await redis.client.keys('reprise:test:turn:*')).length === 3)
    const later = [...messages, { role: 'assistant', content: 'so' }, { role: 'user', content: 'And?' }]
    for (const theirs of [{}, { reprise }, { reprise, cache_salt: 'theirs' }, { cache_salt: 'mine' }]) {
      expect(await ask(other, { messages: later, ...theirs })).not.toContain('secret')
    }
    expect(await ask(other, { messages: later, reprise, cache_salt: 'mine' })).toContain('secret')
  })

  test('a turn that no engine was reached for is in Redis for nobody', async () => {
    const proxy = await start()
    await engine.close()
    const conversation = new SharedConversation(engine, 'unreached')
    await conversation.ask(proxy, 'ABCD').catch(() => {})
    // long enough for it to have been written, if it had not been withdrawn
    await pause(500)
    expect(await redis.client.keys('reprise:test:turn:*')).toEqual([])
    engine = await startRecordingEngineDouble()
  })

  test('a Redis that holds nonsense changes nothing of what is sent', async () => {
    const conversation = new SharedConversation(engine, 'nonsense')
    const first = await start()
    for (const names of ['ABCD', 'CBEA']) await conversation.ask(first, names)
    await shared(2)
    for (const key of await redis.client.keys('reprise:test:turn:*')) await redis.client.set(key, 'x\n{"sent":1}')
    const second = await start()
    const response = await postJson(`${second.url}/v1/chat/completions`, {
      model: 'm',
      messages: [...conversation.messages, { role: 'user', content: 'And?' }],
    })
    expect(response.status).toBe(200)
    expect(await metricOf(second.adminUrl, 'reprise_fail_open_total{reason="redis_value"}')).toBeGreaterThan(0)
    const body = engine.requests.at(-1)!.body.toString()
    for (const name of 'ABCDE') expect(body).toContain(`${name}: ${name}0`)
  })
})
