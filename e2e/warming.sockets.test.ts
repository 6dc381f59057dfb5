import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { type Overrides, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function start(engines: readonly { url: string }[], config: Overrides = {}): Promise<RunningProxy> {
  const proxy = await startTestProxy(undefined, {
    engines: engines.map(({ url }, i) => ({ url, kind: 'vllm' as const, id: `gpu-${i}` })),
    checks: { intervalSeconds: 0 },
    ...config,
  })
  ending.push(() => proxy.close())
  return proxy
}

/** Makes these the engines, but for the first few. */
async function put(
  proxy: RunningProxy,
  engines: readonly { url: string; api_key?: string }[],
  without = 0,
): Promise<void> {
  const named = engines.map(({ url, api_key }, i) => ({ url, kind: 'vllm', id: `gpu-${i}`, api_key }))
  const answer = await postJson(`${proxy.adminUrl}/v1/engines`, { engines: named.slice(without) }, { method: 'PUT' })
  expect(answer.status).toBe(200)
}

interface Described {
  readonly replica: string
  readonly warming: { readonly requests: number; readonly tokens: number } | null
}
async function replicasOf(proxy: RunningProxy): Promise<Described[]> {
  return ((await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: Described[] }).replicas
}

/** The documents of one subject: about 700 tokens. */
const documentsOf = (subject: number): string[] =>
  Array.from({ length: 4 }, (_, i) => `Part ${i} on subject ${subject}. ${`word${subject}-${i} `.repeat(40)}`)
const ask = (subject: number, question: string, rest: Record<string, unknown> = {}): Record<string, unknown> =>
  ragRequest(question, documentsOf(subject), { max_tokens: 2, ...rest })

interface Answered {
  readonly replica: string
  readonly prompt: number
  readonly cached: number
}

/** Clients that ask about six subjects until stopped. */
function sendLoad(proxy: RunningProxy): { readonly answered: Answered[]; stop(): Promise<void> } {
  let isOver = false
  const answered: Answered[] = []
  const client = async (own: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const answer = await postJson(`${proxy.url}/v1/chat/completions`, ask((own + i) % 6, `What of ${own}-${i}?`))
      expect(answer.status).toBe(200)
      const { usage } = (await answer.json()) as {
        usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } }
      }
      const cached = usage.prompt_tokens_details.cached_tokens
      answered.push({ replica: answer.headers.get('x-reprise-replica')!, prompt: usage.prompt_tokens, cached })
    }
  }
  const clients = Array.from({ length: 20 }, (_, i) => client(i))
  const stop = async (): Promise<void> => {
    isOver = true
    await Promise.all(clients)
  }
  ending.push(stop)
  return { answered, stop }
}

interface Measured {
  /** of the first requests at the engines that came */
  readonly hitRatio: number
  /** requests that the engines that came got while the first was there */
  readonly beside: number
  readonly warmUps: number
}

/** One engine becomes three, the first leaves, and one of the others: all under load. */
async function measureScaling(warmUpSeconds: number): Promise<Measured> {
  const engines: Emulator[] = []
  for (let i = 0; i < 3; i++) {
    engines.push(await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0 }))
    ending.push(() => engines[i]!.close())
  }
  const proxy = await start(engines.slice(0, 1), { warmUpSeconds })
  const load = sendLoad(proxy)
  const more = async (count: number): Promise<void> => {
    const until = load.answered.length + count
    await vi.waitFor(() => expect(load.answered.length).toBeGreaterThan(until), { timeout: 120_000, interval: 20 })
  }
  await more(60)
  const before = load.answered.length
  await put(proxy, engines)
  // the load may be over before it is looked at whether they are warm, each second
  const areWarm = async () => expect(await replicasOf(proxy)).toMatchObject(engines.map(() => ({ warming: null })))
  await vi.waitFor(areWarm, { timeout: 60_000, interval: 100 })
  await more(150)
  const beside = load.answered.slice(before).filter(({ replica }) => replica !== 'gpu-0').length
  await put(proxy, engines, 1)
  await more(60)
  const first = load.answered
    .slice(before)
    .filter(({ replica }) => replica !== 'gpu-0')
    .slice(0, 20)
  await put(proxy, engines, 2)
  await vi.waitFor(async () => expect(await replicasOf(proxy)).toHaveLength(1), { timeout: 30_000 })
  await more(20)
  await load.stop()
  const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  const sum = (key: 'cached' | 'prompt'): number => first.reduce((all, one) => all + one[key], 0)
  return {
    hitRatio: sum('cached') / sum('prompt'),
    beside,
    warmUps: Number(/^reprise_warm_ups_total\{outcome="warmed"\} (\d+)$/m.exec(metrics)![1]),
  }
}

test('engines that come under load are warmed, so that their first requests find more cached', async () => {
  const cold = await measureScaling(0)
  const warm = await measureScaling(10)
  expect(cold.warmUps).toBe(0)
  // six subjects, two engines; a client may break some off
  expect(warm.warmUps).toBeGreaterThan(6)
  expect(warm.warmUps).toBeLessThanOrEqual(12)
  expect(warm.hitRatio).toBeGreaterThan(cold.hitRatio)
  expect(warm.beside).toBeGreaterThan(cold.beside)
}, 600_000)

describe('what is sent to an engine that has come', () => {
  let doubles: RecordingEngineDouble[]
  let proxy: RunningProxy

  const answered = JSON.stringify({ id: 'x', choices: [], usage: { prompt_tokens: 800, completion_tokens: 1 } })

  /** A proxy before one engine that holds what it was asked, and another that has just come. */
  async function startWarming(coming: { api_key?: string } = {}, config: Overrides = {}): Promise<void> {
    doubles = [await startRecordingEngineDouble(), await startRecordingEngineDouble()]
    for (const double of doubles) {
      ending.push(() => double.close())
      double.answer((response) => response.setHeader('content-type', 'application/json').end(answered))
    }
    proxy = await start(doubles.slice(0, 1), config)
    await post(ask(1, 'What is it?'))
    await put(proxy, [doubles[0]!, { url: doubles[1]!.url, ...coming }])
  }

  const post = async (body: object, path = '/v1/chat/completions'): Promise<Response> => {
    const answer = await postJson(`${proxy.url}${path}`, body, {
      headers: { authorization: 'Bearer client-1', 'x-request-id': 'own' },
    })
    await answer.text()
    return answer
  }
  const warmed = async (count = 1): Promise<(typeof doubles)[0]['requests']> => {
    await vi.waitFor(() => expect(doubles[1]!.requests).toHaveLength(count))
    return doubles[1]!.requests
  }

  test('the same prompt under the same salt, for one token, under an id of its own', async () => {
    await startWarming()
    const rest = { kv_transfer_params: { do_remote_decode: true, reprise: { reuse: 0 } }, n: 2, temperature: 1 }
    const answer = await post(ask(1, 'And why?', { stream: true, max_tokens: 50, ...rest }))
    expect(answer.headers.get('x-reprise-replica')).toBe('gpu-0')
    const [sent] = await warmed()
    const original = doubles[0]!.requests.at(-1)!
    const [body, was] = [sent!, original].map(({ body }) => JSON.parse(String(body)))
    expect(body).toEqual({
      model: 'm',
      messages: was.messages,
      cache_salt: was.cache_salt,
      kv_transfer_params: { reprise: { reuse: 0 } },
      max_tokens: 1,
    })
    expect(was.kv_transfer_params).toEqual(rest.kv_transfer_params)
    expect(was.cache_salt).toBeTruthy()
    expect(sent!.headers['x-request-id']).not.toBe(original.headers['x-request-id'])
    expect(sent!.headers.authorization).toBe('Bearer client-1')
    expect(sent!.headers['content-length']).toBe(String(String(sent!.body).length))
  })

  test('the key of the engine that has come, and none of another', async () => {
    await startWarming({ api_key: 'of-gpu-1' })
    await post(ask(1, 'And why?'))
    expect((await warmed())[0]!.headers.authorization).toBe('Bearer of-gpu-1')
  })

  test('nothing for a prompt that shares nothing, and nothing twice', async () => {
    await startWarming()
    await post(ask(2, 'What is that?'))
    await post(ask(1, 'And why?'))
    await warmed()
    for (let i = 0; i < 3; i++) await post(ask(1, `And why ${i}?`))
    await pause(200)
    expect(doubles[1]!.requests).toHaveLength(1)
  })

  test('nothing if it is switched off: then it counts as equal at once', async () => {
    await startWarming({}, { warmUpSeconds: 0 })
    await post(ask(1, 'And why?'))
    await pause(200)
    expect(doubles[1]!.requests).toHaveLength(0)
    expect(await replicasOf(proxy)).toMatchObject([{}, { warming: null }])
  })

  test('the hot prompts of the last hour though nobody asks now: one of each, first what was asked for most', async () => {
    const sent = async (): Promise<unknown[]> => {
      await startWarming({}, { warmUpSeconds: 2 })
      await put(proxy, doubles.slice(0, 1))
      for (const [i, subject] of [2, 3, 3, 3, 2, 4].entries()) await post(ask(subject, `What of ${i}?`))
      await put(proxy, doubles)
      await vi.waitFor(async () => expect(await replicasOf(proxy)).toMatchObject([{}, { warming: null }]), 10_000)
      return doubles[1]!.requests.map(({ body, headers }) => [
        /on subject (\d)/.exec(String(body))![1],
        JSON.parse(String(body)).max_tokens,
        headers.authorization,
      ])
    }
    expect(await sent()).toEqual(['3', '2'].map((subject) => [subject, 1, 'Bearer client-1']))
  })

  test('an engine that is still being started is warmed once it answers, and a drained one is not', async () => {
    await startWarming({}, { warmUpSeconds: 2, checks: { intervalSeconds: 0.2 } })
    await put(proxy, doubles.slice(0, 1))
    for (const i of [1, 2]) await post(ask(1, `What of ${i}?`))
    doubles[1]!.answer((response) => response.writeHead(503).end())
    await put(proxy, doubles)
    // unhealthy from the third check on, and for longer than it is to be warmed
    await pause(5_000)
    const warmUps = (): number => doubles[1]!.requests.filter(({ method }) => method === 'POST').length
    expect(warmUps()).toBeLessThan(5)
    doubles[1]!.answer((response) => response.setHeader('content-type', 'application/json').end(answered))
    await vi.waitFor(
      async () => expect((await replicasOf(proxy))[1]).toMatchObject({ warming: { requests: 1 } }),
      10_000,
    )
    await postJson(`${proxy.adminUrl}/v1/replicas/gpu-1/drain`, {})
    const sent = warmUps()
    for (const i of [1, 2]) await post(ask(2, `What of ${i}?`))
    await pause(300)
    expect(warmUps()).toBe(sent)
  })

  test('a service that is paid for each request is not warmed', async () => {
    await startWarming()
    const engines = doubles.map(({ url }, i) => ({ url, id: `paid-${i}` }))
    const named = async (count: number): Promise<unknown> =>
      postJson(`${proxy.adminUrl}/v1/engines`, { engines: engines.slice(0, count) }, { method: 'PUT' })
    await named(1)
    for (const i of [1, 2, 3]) await post(ask(1, `What of ${i}?`))
    await named(2)
    for (const i of [1, 2, 3]) await post(ask(1, `And what of ${i}?`))
    await pause(1_500)
    expect(doubles[1]!.requests.filter(({ body }) => JSON.parse(String(body)).max_tokens === 1)).toEqual([])
  })

  test('it gets no request of a client until it is warm, unless no other takes requests', async () => {
    await startWarming({}, { warmUpSeconds: 600 })
    for (let i = 0; i < 4; i++) {
      expect((await post(ask(2 + i, 'What is that?'))).headers.get('x-reprise-replica')).toBe('gpu-0')
    }
    expect(await replicasOf(proxy)).toMatchObject([{ warming: null }, { warming: { requests: 0, tokens: 0 } }])
    await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/drain`, {})
    expect((await post(ask(9, 'What is that?'))).headers.get('x-reprise-replica')).toBe('gpu-1')
  })

  test('requests that find nothing to speak of anywhere do not end it', async () => {
    await startWarming({}, { warmUpSeconds: 600 })
    const short = answered.replace('800', '8')
    doubles[0]!.answer((response) => response.setHeader('content-type', 'application/json').end(short))
    for (let i = 0; i < 20; i++) await post({ model: 'm', messages: [{ role: 'user', content: 'ping' }] })
    // it is looked at each second
    await pause(1_500)
    expect(await replicasOf(proxy)).toMatchObject([{}, { warming: { requests: 0 } }])
    await post(ask(1, 'And why?'))
    await warmed()
  })

  test('an engine that leaves interrupts it', async () => {
    await startWarming({}, { warmUpSeconds: 600 })
    doubles[1]!.answer(() => {})
    await post(ask(1, 'And why?'))
    await warmed()
    await put(proxy, doubles.slice(0, 1))
    await outcome('interrupted')
  })

  const outcome = (name: string): Promise<void> =>
    vi.waitFor(
      async () => {
        const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
        expect(metrics).toContain(`reprise_warm_ups_total{outcome="${name}"} 1`)
      },
      { timeout: 20_000 },
    )

  test('a client breaks it off', async () => {
    await startWarming({}, { warmUpSeconds: 600 })
    const broken = new Promise((resolve) => doubles[1]!.answer((response) => response.on('close', resolve)))
    await post(ask(1, 'And why?'))
    await warmed()
    await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/drain`, {})
    void post(ask(9, 'What is that?')).catch(() => {})
    await broken
    await outcome('interrupted')
  })
})
