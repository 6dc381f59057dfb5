import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, documentRequest, metricOf, namesIn, placedIn } from './placed-blocks.ts'
import { type RawEngineDouble, startRawEngineDouble } from './raw-engine-double.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function startBefore(urls: readonly string[], config: Overrides = {}): Promise<RunningProxy> {
  const engines = urls.map((url, i) => ({ url, kind: 'vllm' as const, id: `gpu-${i}` }))
  const proxy = await startTestProxy(undefined, { engines, ...config })
  ending.push(() => proxy.close())
  return proxy
}

async function startDouble(port?: number): Promise<RecordingEngineDouble> {
  const double = await startRecordingEngineDouble(port)
  let isClosed = false
  const close = async (): Promise<void> => {
    if (!isClosed) await double.close()
    isClosed = true
  }
  ending.push(close)
  return { ...double, close }
}

/**
 * Returns an address that refuses connections until something listens there. Its port is none of those that the system
 * hands out, since another test's server could get it.
 */
async function refusingPort(): Promise<{ port: number; url: string }> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    const double = await startDouble(port).catch(() => undefined)
    await double?.close()
    if (double) return double
  }
}

const ask = (proxy: RunningProxy, body: unknown, path = '/v1/chat/completions'): Promise<Response> =>
  postJson(proxy.url + path, body)

async function replicaOf(answer: Response | Promise<Response>): Promise<string | null> {
  const response = await answer
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get('x-reprise-replica')
}

const control = (proxy: RunningProxy, path: string, body: unknown = {}): Promise<Response> =>
  postJson(proxy.adminUrl + path, body)

describe('requests behind several replicas', () => {
  let emulators: Emulator[]
  let proxy: RunningProxy

  beforeEach(async () => {
    const local = { ...emulatorDefaults, host: '127.0.0.1', port: 0 }
    emulators = await Promise.all([1, 2, 3].map(() => startEmulator(local)))
    for (const emulator of emulators) ending.push(() => emulator.close())
    proxy = await startBefore(emulators.map(({ url }) => url))
  })

  test('spread when they share nothing, and come back to the replica that holds their documents', async () => {
    const contexts = ['ABC', 'DEF', 'GHI', 'JKL', 'MNO', 'PQR']
    const first = await Promise.all(contexts.map((names) => replicaOf(ask(proxy, documentRequest('q1', names)))))
    expect(new Set(first).size).toBe(3)
    for (const [i, names] of contexts.entries()) {
      const response = await ask(proxy, documentRequest('another', [...names].reverse().join('')))
      const { usage } = (await response.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } } }
      expect(response.headers.get('x-reprise-replica')).toBe(first[i])
      // three blocks of some 90 tokens: the engine itself reports them as cached
      expect(usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(240)
    }
  })
})

describe('an order', () => {
  let doubles: RecordingEngineDouble[]
  let proxy: RunningProxy

  beforeEach(async () => {
    doubles = [await startDouble(), await startDouble()]
    proxy = await startBefore(doubles.map(({ url }) => url))
  })

  const onlyOn = async (place: number): Promise<void> => {
    await control(proxy, `/v1/replicas/gpu-${1 - place}/drain`)
    await control(proxy, `/v1/replicas/gpu-${place}/resume`)
  }

  test('is made for the replica that runs the request', async () => {
    await onlyOn(0)
    await replicaOf(ask(proxy, documentRequest('q1', 'ABC')))
    await onlyOn(1)
    // the order that the other replica holds is of no use here
    await replicaOf(ask(proxy, documentRequest('q2', 'CBA')))
    expect(placedIn(doubles[1]!.requests.at(-1))).toBe('CBA')
    await onlyOn(0)
    await replicaOf(ask(proxy, documentRequest('q3', 'CBA')))
    expect(placedIn(doubles[0]!.requests.at(-1))).toBe('ABC')
    await onlyOn(1)
    await replicaOf(ask(proxy, documentRequest('q4', 'ABC')))
    expect(placedIn(doubles[1]!.requests.at(-1))).toBe('CBA')
  })

  test('of a past turn stays to the byte, whichever replica runs the next', async () => {
    await onlyOn(0)
    await replicaOf(ask(proxy, documentRequest('q1', 'ABC')))
    const turns = documentRequest('q2', 'BAD') as { messages: { role: string; content: string }[] }
    await replicaOf(ask(proxy, turns))
    const sent = contentsIn(doubles[0]!.requests.at(-1))
    expect(namesIn(sent[1]!)).toBe('ABD')
    for (const [turn, place] of [1, 0, 1, 1].entries()) {
      await onlyOn(place)
      turns.messages.push({ role: 'assistant', content: `answer ${turn}` })
      turns.messages.push(
        (documentRequest(`q${turn}`, ['EFG', 'GEF', 'HGE', 'FEH'][turn]!) as typeof turns).messages[1]!,
      )
      await replicaOf(ask(proxy, turns))
      const now = contentsIn(doubles[place]!.requests.at(-1))
      expect(now.slice(0, sent.length)).toEqual(sent)
      sent.splice(0, sent.length, ...now)
    }
  })

  test('learns from the events of its own replica alone', async () => {
    for (const place of [0, 1]) {
      await onlyOn(place)
      await control(proxy, `/v1/replicas/gpu-${place}/snapshot`, { generation: `g${place}`, sequence: 0, requests: [] })
      await replicaOf(
        postJson(`${proxy.url}/v1/chat/completions`, documentRequest('q', 'ABC'), {
          headers: { 'x-request-id': `r-${place}` },
        }),
      )
    }
    const evicted = { type: 'evicted', request_id: 'r-1', cached_tokens: 0 }
    const told = await control(proxy, '/v1/replicas/gpu-1/events', { generation: 'g1', sequence: 1, events: [evicted] })
    expect(await told.json()).toEqual({ sequence: 1 })
    const crossed = await control(proxy, '/v1/replicas/gpu-0/events', { generation: 'g1', sequence: 1, events: [] })
    expect(await crossed.json()).toEqual({ expected: 0 })
    expect(
      (await control(proxy, '/v1/replicas/gpu-2/events', { generation: 'g', sequence: 1, events: [] })).status,
    ).toBe(404)
    const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: object[] }
    expect(replicas).toMatchObject([
      { replica: 'gpu-0', generation: 'g0', sequence: 0, requests: 1 },
      { replica: 'gpu-1', mode: 'exact', generation: 'g1', sequence: 1 },
    ])
    await control(proxy, '/v1/replicas/gpu-0/resume')
    // the replica that still holds the documents is chosen every time
    for (const question of ['x', 'y', 'z'])
      expect(await replicaOf(ask(proxy, documentRequest(question, 'CAB')))).toBe('gpu-0')
  })
})

describe('a replica that refuses connections', () => {
  test('costs no request: another answers, the retry is counted, and it is used again when it is back', async () => {
    const [{ port, url }, other] = [await refusingPort(), await startDouble()]
    const proxy = await startBefore([url, other.url], {
      breaker: { failuresInARow: 2, openMilliseconds: 2_000 },
      checks: { intervalSeconds: 0, timeoutSeconds: 1 },
    })
    // two at a time, so that each replica gets one
    for (let i = 0; i < 8; i += 2) {
      const bodies = [0, 1].map((k) => documentRequest('q', String.fromCharCode(65 + i + k)))
      const replicas = await Promise.all(bodies.map((body) => replicaOf(ask(proxy, body))))
      expect(replicas).toEqual(['gpu-1', 'gpu-1'])
    }
    expect(other.requests.map(placedIn).sort()).toEqual([...'ABCDEFGH'])
    // the circuit breaker kept the other requests from trying
    expect(await metricOf(proxy.adminUrl, 'reprise_retries_total{reason="other"}')).toBe(2)
    expect(await metricOf(proxy.adminUrl, 'reprise_replica_state{replica="gpu-0",state="open"}')).toBe(1)
    await delay(2_050)
    // one request probes it and finds it still down, but does not fail
    expect(await replicaOf(ask(proxy, documentRequest('q', 'X')))).toBe('gpu-1')
    const back = await startDouble(port)
    await vi.waitFor(async () => {
      await Promise.all(['Y', 'Z', 'W'].map((name) => replicaOf(ask(proxy, documentRequest('q', name)))))
      expect(back.requests.length).toBeGreaterThan(0)
    })
    expect(await metricOf(proxy.adminUrl, 'reprise_replica_state{replica="gpu-0",state="ready"}')).toBe(1)
  })

  test('and has no other beside it is answered for with 502 in the shape of the API', async () => {
    const [one, two] = [await refusingPort(), await refusingPort()]
    const proxy = await startBefore([one.url, two.url])
    for (let i = 0; i < 12; i++) {
      const response = await ask(proxy, documentRequest('q', 'AB'))
      expect(response.status).toBe(502)
      expect(await errorOf(response)).toMatchObject({ code: 'engine_unreachable', type: 'server_error' })
    }
    const response = await ask(
      proxy,
      { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
      '/v1/messages',
    )
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'engine_unreachable' },
    })
    const passed = await fetch(`${proxy.url}/v1/models`)
    expect(passed.status).toBe(502)
  })

  test('comes back in time for a request that waited for it', async () => {
    const { port, url } = await refusingPort()
    const proxy = await startBefore([url])
    const asked = ask(proxy, documentRequest('q', 'AB'))
    const retries = () => metricOf(proxy.adminUrl, 'reprise_retries_total{reason="same"}')
    await vi.waitFor(async () => expect(await retries()).toBe(1), { timeout: 5_000, interval: 5 })
    await startDouble(port)
    expect(await replicaOf(asked)).toBe('gpu-0')
  })
})

describe('what is passed through', () => {
  const checks = { intervalSeconds: 0, timeoutSeconds: 1 }

  test('goes to another replica where the first refuses connections, with its body', async () => {
    const [gone, other] = [await refusingPort(), await startDouble()]
    const proxy = await startBefore([gone.url, other.url], { checks })
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(200)
    const texts = ['some text', 'x'.repeat(300_000)]
    for (const text of texts) expect((await ask(proxy, { input: text }, '/v1/embeddings')).status).toBe(200)
    expect(other.requests.map(({ url, body }) => [url, body.toString()])).toEqual([
      ['/v1/models', ''],
      ...texts.map((input) => ['/v1/embeddings', JSON.stringify({ input })]),
    ])
    expect(await metricOf(proxy.adminUrl, 'reprise_retries_total{reason="other"}')).toBe(3)
  })

  test('is not sent a second time where the engine may have begun with it', async () => {
    const raw = await startRawEngineDouble({ onRequest: (socket) => socket.resetAndDestroy() })
    ending.push(() => raw.close())
    const other = await startDouble()
    const proxy = await startBefore([raw.url, other.url], { checks })
    expect((await ask(proxy, { input: 'text' }, '/v1/embeddings')).status).toBe(502)
    expect([raw.requestCount, other.requests.length]).toEqual([1, 0])
  })

  test('is shared between the replicas when much of it comes at once', async () => {
    const doubles = [await startDouble(), await startDouble()]
    const held: (() => void)[] = []
    for (const double of doubles) double.answer((response) => held.push(() => response.end('{}')))
    const proxy = await startBefore(
      doubles.map(({ url }) => url),
      { checks },
    )
    const asked = ['a', 'b', 'c', 'd'].map((input) => ask(proxy, { input }, '/v1/embeddings'))
    await vi.waitFor(() => expect(held).toHaveLength(4))
    expect(doubles.map(({ requests }) => requests.length)).toEqual([2, 2])
    for (const answer of held) answer()
    for (const response of await Promise.all(asked)) expect(response.status).toBe(200)
  })
})

describe('a replica that breaks off', () => {
  let raw: RawEngineDouble

  beforeEach(async () => {
    raw = await startRawEngineDouble({ onRequest: (socket) => socket.resetAndDestroy() })
    ending.push(() => raw.close())
  })

  test('after it has read a request is not asked again, and nor is another', async () => {
    const other = await startDouble()
    const proxy = await startBefore([raw.url, other.url], {
      breaker: { failuresInARow: 100, openMilliseconds: 1_000 },
      // health checks would be counted, too
      checks: { intervalSeconds: 0, timeoutSeconds: 1 },
    })
    const statuses: number[] = []
    for (let i = 0; i < 8; i += 2) {
      const bodies = [0, 1].map((k) => documentRequest('q', String.fromCharCode(65 + i + k)))
      const responses = await Promise.all(bodies.map((body) => ask(proxy, body)))
      for (const response of responses) {
        await response.text()
        statuses.push(response.status)
      }
    }
    expect(raw.requestCount).toBeGreaterThan(0)
    expect(statuses.filter((status) => status === 502)).toHaveLength(raw.requestCount)
    expect(statuses.filter((status) => status === 200)).toHaveLength(other.requests.length)
    expect(raw.requestCount + other.requests.length).toBe(8)
    expect(await metricOf(proxy.adminUrl, 'reprise_retries_total{reason="other"}')).toBe(0)
  })
})

describe('health checks', () => {
  test('take a replica out that answers with errors, and put it back', async () => {
    const doubles = [await startDouble(), await startDouble()]
    let isIll = false
    doubles[0]!.answer((response, { url }) => {
      response.writeHead(url === '/health' && isIll ? 500 : 200, { 'content-type': 'application/json' }).end('{}')
    })
    const proxy = await startBefore(
      doubles.map(({ url }) => url),
      { checks: { intervalSeconds: 0.02, timeoutSeconds: 1 } },
    )
    const promptsAt = (place: number): number =>
      doubles[place]!.requests.filter(({ method }) => method === 'POST').length
    const stateIs = (state: string): Promise<void> =>
      vi.waitFor(async () =>
        expect(await metricOf(proxy.adminUrl, `reprise_replica_state{replica="gpu-0",state="${state}"}`)).toBe(1),
      )
    isIll = true
    await stateIs('unhealthy')
    const before = promptsAt(0)
    await Promise.all([...'ABCDEF'].map((name) => replicaOf(ask(proxy, documentRequest('q', name)))))
    expect(promptsAt(0)).toBe(before)
    isIll = false
    await stateIs('ready')
    await Promise.all([...'GHIJKL'].map((name) => replicaOf(ask(proxy, documentRequest('q', name)))))
    expect(promptsAt(0)).toBeGreaterThan(before)
  })

  test('that all fail do not keep requests from engines that answer', async () => {
    const doubles = [await startDouble(), await startDouble()]
    for (const double of doubles)
      double.answer((response, { method }) => {
        response.writeHead(method === 'GET' ? 404 : 200, { 'content-type': 'application/json' }).end('{}')
      })
    const proxy = await startBefore(
      doubles.map(({ url }) => url),
      { checks: { intervalSeconds: 0.02, timeoutSeconds: 1 } },
    )
    await delay(200)
    for (const name of 'ABC') expect(await replicaOf(ask(proxy, documentRequest('q', name)))).toMatch(/^gpu-/)
  })

  test('ask a single engine where readyz tells of it', async () => {
    const double = await startDouble()
    let isIll = false
    double.answer((response) => void response.writeHead(isIll ? 500 : 200).end())
    const proxy = await startBefore([double.url], {
      checks: { intervalSeconds: 0.02, timeoutSeconds: 1 },
      health: { readyz: 'engine' },
    })
    const becomes = (status: number): Promise<void> =>
      vi.waitFor(async () => expect((await fetch(`${proxy.adminUrl}/readyz`)).status).toBe(status))
    await becomes(200)
    isIll = true
    await becomes(503)
    isIll = false
    await becomes(200)
  })
})

describe('a replica that is drained', () => {
  test('ends what it has begun, gets nothing new, and is used again when it is resumed', async () => {
    const doubles = [await startDouble(), await startDouble()]
    const proxy = await startBefore(doubles.map(({ url }) => url))
    await control(proxy, '/v1/replicas/gpu-1/drain')
    let finish: () => void = () => {}
    doubles[0]!.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[]}\n\n')
      finish = () => response.end('data: [DONE]\n\n')
    })
    const running = await ask(proxy, documentRequest('q', 'ABC', { stream: true }))
    expect(await (await control(proxy, '/v1/replicas/gpu-1/resume')).json()).toEqual({
      replica: 'gpu-1',
      state: 'ready',
    })
    expect(await (await control(proxy, '/v1/replicas/gpu-0/drain')).json()).toEqual({
      replica: 'gpu-0',
      state: 'draining',
    })
    // not even requests whose documents it holds go to it
    for (const question of ['a', 'b', 'c'])
      expect(await replicaOf(ask(proxy, documentRequest(question, 'ABC')))).toBe('gpu-1')
    finish()
    expect(await running.text()).toBe('data: {"choices":[]}\n\ndata: [DONE]\n\n')
    await control(proxy, '/v1/replicas/gpu-1/drain')
    const refused = await ask(proxy, documentRequest('q', 'ABC'))
    expect([refused.status, (await errorOf(refused)).code]).toEqual([503, 'draining'])
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(503)
    expect((await control(proxy, '/v1/replicas/gpu-9/drain')).status).toBe(404)
  })
})
