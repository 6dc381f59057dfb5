import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { connectRaw } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

const post = (path: string, body: unknown): Promise<Response> => postJson(`${proxy.adminUrl}${path}`, body)
const events = (generation: string, sequence: number, ...list: unknown[]): Promise<Response> =>
  post('/v1/replicas/gpu-0/events', { generation, sequence, events: list })
const snapshot = (generation: string, sequence: number, requests: unknown[] = []): Promise<Response> =>
  post('/v1/replicas/gpu-0/snapshot', { generation, sequence, requests })
const mirror = async (): Promise<Record<string, unknown>> =>
  ((await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: Record<string, unknown>[] }).replicas[0]!
const send = (id: string, ...blocks: string[]): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, ragRequest(`question ${id}`, blocks), {
    headers: { 'x-request-id': id },
  })

describe('the callback protocol', () => {
  test('begins with a snapshot, then takes events in sequence; repeats are ignored', async () => {
    const unknown = await events('g1', 1)
    expect([unknown.status, await unknown.json()]).toEqual([409, { expected: 0 }])
    expect(await mirror()).toMatchObject({ mode: 'fallback', generation: null })
    expect(await (await snapshot('g1', 0)).json()).toEqual({ sequence: 0 })
    expect(await (await events('g1', 1)).json()).toEqual({ sequence: 1 })
    expect(await (await events('g1', 1, { type: 'cleared' })).json()).toEqual({ sequence: 1 })
    expect(await mirror()).toMatchObject({ mode: 'exact', generation: 'g1', sequence: 1 })
  })

  test('a gap is answered with what was expected, and a snapshot mends it', async () => {
    await snapshot('g1', 0)
    const gap = await events('g1', 3)
    expect([gap.status, await gap.json()]).toEqual([409, { expected: 1 }])
    expect(await mirror()).toMatchObject({ mode: 'degraded', sequence: 0 })
    await snapshot('g1', 3)
    expect((await events('g1', 4)).status).toBe(200)
    expect(await mirror()).toMatchObject({ mode: 'exact', sequence: 4 })
  })

  test('a restarted engine is an unknown generation until its snapshot', async () => {
    await snapshot('g1', 0)
    await send('r-1', 'a', 'b')
    const restarted = await events('g2', 1)
    expect([restarted.status, await restarted.json()]).toEqual([409, { expected: 0 }])
    await snapshot('g2', 0)
    expect(await mirror()).toMatchObject({ generation: 'g2', requests: 0 })
  })

  test('a restarted engine is logged once, its first life and its repeats are not', async () => {
    const warn = vi.spyOn(proxy.log, 'warn')
    await snapshot('g1', 0)
    await snapshot('g1', 1)
    expect(warn).not.toHaveBeenCalled()
    await events('g2', 1)
    await snapshot('g2', 1)
    await snapshot('g2', 2)
    expect(warn.mock.calls).toEqual([
      [{ replica: 'gpu-0', reason: expect.stringContaining('restarted') }, expect.any(String)],
    ])
  })

  test('an evicted request is cut in the index; unknown ids are counted and ignored', async () => {
    await snapshot('g1', 0)
    await send('r-1', 'a'.repeat(400), 'b'.repeat(400))
    // the engine counted 8 prompt tokens; the 5 still cached cover only the first block
    await events('g1', 1, { type: 'evicted', request_id: 'r-1', cached_tokens: 5, tier: 'gpu' })
    await events('g1', 2, { type: 'evicted', request_id: 'nobody', cached_tokens: 1 })
    expect(await mirror()).toMatchObject({ requests: 1, unknown_requests: 1 })
    const explained = await post('/v1/explain', ragRequest('q', ['b'.repeat(400), 'c', 'a'.repeat(400)]))
    expect(await explained.json()).toMatchObject({ order: [2, 0, 1], replica: 'gpu-0' })
    await events('g1', 3, { type: 'cleared' })
    expect(await mirror()).toMatchObject({ requests: 0 })
  })

  test('events that arrive while a snapshot is being read are applied after it', async () => {
    await snapshot('g1', 0)
    const body = JSON.stringify({ generation: 'g1', sequence: 5, requests: [] })
    const slow = httpRequest(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, {
      method: 'POST',
      headers: { 'content-length': body.length, expect: '100-continue' },
    })
    slow.flushHeaders()
    await once(slow, 'continue')
    slow.write(body.slice(0, 10))
    const held = events('g1', 6)
    await delay(50)
    expect(await mirror()).toMatchObject({ sequence: 0 })
    slow.end(body.slice(10))
    expect((await held).status).toBe(200)
    expect(await mirror()).toMatchObject({ mode: 'exact', sequence: 6 })
  })

  test('a snapshot that turns out malformed leaves the state as it was, for held events too', async () => {
    await snapshot('g1', 0)
    expect((await post('/v1/replicas/gpu-0/snapshot', { generation: 'g1' })).status).toBe(400)
    expect((await events('g1', 1)).status).toBe(200)
  })

  test.each([
    { generation: 'g1', sequence: 1 },
    { generation: 1, sequence: 1, events: [] },
    { generation: 'g1', sequence: -1, events: [] },
    { generation: 'g1', sequence: 1, events: [{ type: 'moved' }] },
    { generation: 'g1', sequence: 1, events: [{ type: 'evicted', request_id: 'r' }] },
    { generation: 'g1', sequence: 1, events: [{ type: 'cleared' }, { type: 'stored', cached_tokens: 1 }] },
    '{"generation":"g1","sequence":9007199254740992,"events":[]}',
    '{"generation":"g1","sequence":9007199254740993,"events":[]}',
    { generation: 'g1', sequence: 1, events: [{ type: 'stored', request_id: 'r', cached_tokens: 2 ** 53 }] },
    { generation: 'g1', sequence: 1, events: [{ type: 'stored', request_id: 'r', cached_tokens: 1e300 }] },
    { generation: 'g1', sequence: 1, events: [{ type: 'evicted', request_id: 'r', cached_tokens: 0, tier: 7 }] },
    { generation: 'g1', sequence: 1, events: [{ type: 'evicted', request_id: 'r', cached_tokens: 0, tier: 'mars' }] },
    'not json',
  ])('a malformed body is 400 and has no effect: %j', async (body) => {
    await snapshot('g1', 0)
    const response = await post('/v1/replicas/gpu-0/events', body)
    expect(response.status).toBe(400)
    expect((await errorOf(response)).code).toBe('invalid_body')
    expect(await mirror()).toMatchObject({ sequence: 0 })
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(metrics.match(/mirror_events_total\{.*/g)).toEqual(
      ['stored', 'evicted', 'cleared']
        .map((type) => `mirror_events_total{type="${type}"} 0`)
        .concat('mirror_events_total{type="snapshot"} 1'),
    )
  })

  test('the largest numbers that are told apart are taken, and a snapshot of larger ones is not', async () => {
    expect((await snapshot('g1', 2 ** 53 - 2, [{ request_id: 'r', cached_tokens: 2 ** 53 - 1 }])).status).toBe(200)
    expect((await events('g1', 2 ** 53 - 1)).status).toBe(200)
    expect((await snapshot('g2', 2 ** 53)).status).toBe(400)
    expect((await snapshot('g2', 0, [{ request_id: 'r', cached_tokens: 2 ** 53 }])).status).toBe(400)
    expect(await mirror()).toMatchObject({ generation: 'g1', sequence: 2 ** 53 - 1 })
  })

  test.each([
    ['POST', '/v1/replicas/gpu-0/events', '{"generation":"g1","sequence":1,"events":[{"type":"cleared"}],"by":"\xff"}'],
    ['POST', '/v1/replicas/gpu-0/snapshot', '{"generation":"\xff","sequence":4,"requests":[]}'],
    ['PUT', '/v1/chunks', `{"id":"a","text":"${'caf\xe9 '.repeat(20)}"}`],
  ])('a body that is not UTF-8 is malformed: %s %s', async (method, path, bytes) => {
    await snapshot('g1', 0)
    const response = await fetch(`${proxy.adminUrl}${path}`, { method, body: Buffer.from(bytes, 'latin1') })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_body', message: expect.stringContaining('UTF-8') })
    expect(await mirror()).toMatchObject({ generation: 'g1', sequence: 0 })
  })

  test.each(['gpu', 'cpu', 'disk'])('an event may name the tier: %s', async (tier) => {
    await snapshot('g1', 0)
    expect((await events('g1', 1, { type: 'evicted', request_id: 'r', cached_tokens: 0, tier })).status).toBe(200)
  })

  test('an unknown replica is 404, a body over 8 MiB is 413', async () => {
    expect((await post('/v1/replicas/other/events', { generation: 'g', sequence: 0, events: [] })).status).toBe(404)
    const tooLarge = await post('/v1/replicas/gpu-0/events', 'x'.repeat(9 * 1024 * 1024))
    expect(tooLarge.status).toBe(413)
    // no setting changes that
    expect(await tooLarge.text()).not.toContain('limits.body_bytes')
  })

  test.each([
    ['gpu-0', 'body_too_large'],
    ['other', 'not_found'],
  ])(
    'a sender that reads only once it has sent all, and then no more, sees why it is refused: %s',
    async (name, code) => {
      const client = await connectRaw(proxy.adminUrl)
      client.socket.pause()
      const body = 'x'.repeat(20_000_000)
      const head = `POST /v1/replicas/${name}/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`
      await new Promise<void>((resolve, reject) => {
        client.socket.on('close', () => reject(new Error('cut off while it was sending')))
        client.socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`, () => resolve())
      })
      client.socket.resume()
      await client.until(code)
      client.reset()
    },
  )

  test.each(['before', 'after'])(
    'a request whose client does not wait for its answer is held as the engine tells %s that',
    async (moment) => {
      await snapshot('g1', 0)
      engine.answer(() => {})
      const aborter = new AbortController()
      const left = postJson(`${proxy.url}/v1/chat/completions`, ragRequest('q', ['a'.repeat(400), 'b'.repeat(400)]), {
        headers: { 'x-request-id': 'r-1' },
        signal: aborter.signal,
      }).catch(() => {})
      await vi.waitFor(() => expect(engine.requests).toHaveLength(1))
      const stored = { type: 'stored', request_id: 'r-1', cached_tokens: 150 }
      if (moment === 'before') await events('g1', 1, stored)
      aborter.abort()
      await Promise.all([left, engine.abortions[0]])
      if (moment === 'after') await events('g1', 1, stored)
      expect(await mirror()).toMatchObject({ requests: 1, unknown_requests: 0 })
      await events('g1', 2, { type: 'evicted', request_id: 'r-1', cached_tokens: 0 })
      expect(await mirror()).toMatchObject({ requests: 0, unknown_requests: 0 })
    },
  )

  test('existing hooks may post the ids of evicted requests', async () => {
    await send('r-1', 'a', 'b')
    const evicted = await post('/evict', { request_ids: ['r-1', 'nobody', 'nobody-else'] })
    expect(await evicted.json()).toEqual({ evicted: 1, unknown: 2 })
    expect(await mirror()).toMatchObject({ requests: 0 })
    expect((await post('/evict', { request_ids: 'r-1' })).status).toBe(400)
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(metrics).toContain('mirror_events_total{type="evicted"} 3\n')
  })
})

test('a half-evicted request is cut, not forgotten, though its message has no blocks', async () => {
  const content = 'Ten words of plain text that are no list at all. '.repeat(40)
  const ask = async (...more: string[]): Promise<number> => {
    const messages = [content, ...more].map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }))
    const explained = await post('/v1/explain', { model: 'm', messages })
    return ((await explained.json()) as { predicted_cached_tokens: number }).predicted_cached_tokens
  }
  await snapshot('g1', 0)
  const body = { model: 'm', messages: [{ role: 'user', content }] }
  const sent = await postJson(`${proxy.url}/v1/chat/completions`, body, { headers: { 'x-request-id': 'r-1' } })
  await sent.text()
  // the engine counts 8 tokens in any prompt
  for (const [i, cached_tokens] of [8, 6, 4, 2, 0, 8].entries()) {
    await events('g1', i + 1, { type: cached_tokens === 8 ? 'stored' : 'evicted', request_id: 'r-1', cached_tokens })
    expect(await mirror()).toMatchObject({ cached_tokens, requests: Number(cached_tokens > 0) })
    expect([await ask(), await ask('yes', 'and why?')]).toEqual([cached_tokens, cached_tokens])
  }
})

test('of a request for which the engine does not look into its cache nothing is predicted to be cached', async () => {
  const ask = async (rest: Record<string, unknown>): Promise<number> => {
    const response = await postJson(`${proxy.url}/v1/chat/completions`, ragRequest('q', ['a'.repeat(400)], rest))
    await response.text()
    return Number(response.headers.get('x-reprise-predicted-cached-tokens'))
  }
  await ask({})
  expect(await ask({ prompt_logprobs: 1 })).toBe(0)
  expect(await ask({})).toBeGreaterThan(0)
})

describe('the control plane', () => {
  test('says that it lives, is ready, and what it holds', async () => {
    await send('r-1', 'a', 'b')
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await fetch(proxy.adminUrl + path)).status).toBe(200)
    expect(await (await fetch(`${proxy.adminUrl}/v1/index`)).json()).toMatchObject({ contexts: 1, nodes: 1 })
    await fetch(`${proxy.adminUrl}/v1/index`, { method: 'DELETE' })
    expect(await (await fetch(`${proxy.adminUrl}/v1/index`)).json()).toMatchObject({ contexts: 0, nodes: 0 })
    expect((await fetch(`${proxy.adminUrl}/nothing`)).status).toBe(404)
  })

  test('explains by what equal documents differ', async () => {
    const results = ['a', 'b'].map((letter, i) => ({ content: `${letter} `.repeat(80), score: 0.9 - i / 10 }))
    const content = `Documents:\n${JSON.stringify(results)}\n\nQuestion: why?`
    const explained = await (await post('/v1/explain', { messages: [{ role: 'user', content }] })).json()
    expect(explained).toMatchObject({
      lists: [{ blocks: 2, differs_by: 'score', remedy: expect.stringContaining('leave scores out') }],
    })
  })

  test('explains a request without sending or remembering anything', async () => {
    await send('r-1', 'a', 'b')
    const explain = async (): Promise<Record<string, unknown>> =>
      (await (await post('/v1/explain', ragRequest('q', ['c', 'b', 'a']))).json()) as Record<string, unknown>
    const first = await explain()
    expect(first).toMatchObject({ order: [2, 1, 0], search_path: [0], replica: 'gpu-0', skipped: null })
    expect(first.annotations).toEqual([expect.stringContaining('[3] > [2] > [1]')])
    expect(first.body).toMatchObject({ model: 'm' })
    expect(await explain()).toEqual(first)
    expect(engine.requests).toHaveLength(1)
  })
})

describe('behind an emulator with a small cache', () => {
  test('what it evicts is no longer predicted or followed, what it holds is', async () => {
    const adminPort = await findFreePort()
    const emulator = await startEmulator({
      ...emulatorDefaults,
      host: '127.0.0.1',
      port: 0,
      capacityTokens: 2_000,
      callbackUrl: `http://127.0.0.1:${adminPort}/v1/replicas/small`,
    })
    const admin = { listen: `127.0.0.1:${adminPort}` }
    const small = await startTestProxy({ url: emulator.url, kind: 'vllm', id: 'small' }, { admin })
    const block = (name: string): string => `${name} says ${'so and so, '.repeat(60)}`
    const ask = (...names: string[]): Record<string, unknown> =>
      ragRequest('what is it?', names.map(block), { max_tokens: 9 })
    const explain = async (...names: string[]): Promise<{ order: number[]; predicted_cached_tokens: number }> =>
      (await (await postJson(`${small.adminUrl}/v1/explain`, ask(...names))).json()) as never
    const read = async <T>(path: string): Promise<T> => (await (await fetch(small.adminUrl + path)).json()) as T
    const mode = async (): Promise<string> =>
      (await read<{ replicas: [{ mode: string }] }>('/v1/mirror')).replicas[0].mode
    const contexts = async (): Promise<number> => (await read<{ contexts: number }>('/v1/index')).contexts
    try {
      const send = (...names: string[]): Promise<Response> =>
        postJson(`${small.url}/v1/chat/completions`, ask(...names))
      while ((await mode()) !== 'exact') await delay(10)
      expect((await send('a', 'b', 'c')).status).toBe(200)
      expect(await explain('c', 'b', 'a')).toMatchObject({ order: [2, 1, 0] })
      for (const names of [
        ['d', 'e', 'f'],
        ['g', 'h', 'i'],
        ['j', 'k', 'l'],
      ])
        expect((await send(...names)).status).toBe(200)
      while ((await contexts()) === 4) await delay(10)
      const evicted = await explain('c', 'b', 'a')
      expect(evicted.order).toEqual([0, 1, 2])
      expect(evicted.predicted_cached_tokens).toBeLessThan(100)
      const held = await explain('l', 'k', 'j')
      expect(held.order).toEqual([2, 1, 0])
      expect(held.predicted_cached_tokens).toBeGreaterThan(400)
    } finally {
      await small.close()
      await emulator.close()
    }
  })
})
