import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { reusing } from './emulated-reuse/reusing-cache.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let proxy: RunningProxy
let close: (() => Promise<void>)[] = []

afterEach(async () => {
  await proxy.close()
  for (const end of close) await end()
  close = []
})

const replicaOf = async (): Promise<Record<string, unknown>> =>
  ((await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: Record<string, unknown>[] }).replicas[0]!

describe('what a request wishes', () => {
  let engine: RecordingEngineDouble

  async function start(kind: EngineKind, reuse: unknown): Promise<void> {
    engine = await startRecordingEngineDouble()
    close.push(() => engine.close())
    proxy = await startTestProxy({ url: engine.url, kind, id: 'gpu-0' })
    const snapshot = { generation: 'g', sequence: 0, requests: [], reuse }
    expect((await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, snapshot)).status).toBe(200)
  }

  async function sent(body: string, options?: string): Promise<string> {
    const headers: Record<string, string> = options === undefined ? {} : { 'x-reprise-options': options }
    const response = await postJson(`${proxy.url}/v1/chat/completions`, body, { headers })
    expect(response.status).toBe(200)
    return engine.requests
      .filter(({ url }) => url === '/v1/chat/completions')
      .at(-1)!
      .body.toString()
      .replace(/"cache_salt":"[^"]+",/, '')
  }

  const body = '{"messages":[{"role":"user","content":"hi"}], "temperature" : 1.0}'

  test('reaches an engine that reuses, within what it grants, beside what the client says itself', async () => {
    await start('vllm', { ratio: 0.15, min_ratio: 0.1, max_ratio: 0.5 })
    expect(await replicaOf()).toMatchObject({ reuse: { ratio: 0.15, min_ratio: 0.1, max_ratio: 0.5 } })
    const rest = body.slice(1)
    expect(await sent(body, 'reuse=off')).toBe(`{"kv_transfer_params":{"reprise":{"reuse":"off"}},${rest}`)
    expect(await sent(body, 'reuse=0.9')).toBe(`{"kv_transfer_params":{"reprise":{"reuse":0.5}},${rest}`)
    const own = `{"kv_transfer_params":{"x":1},${rest}`
    expect(await sent(own, 'reuse=0')).toBe(`{"kv_transfer_params":{"reprise":{"reuse":0.1},"x":1},${rest}`)
    const explicit = `{"reprise":{"options":{"reuse":0.25}},${rest}`
    expect(await sent(explicit)).toBe(`{"kv_transfer_params":{"reprise":{"reuse":0.25}},${rest}`)
  })

  test('names the user to an engine that asks for one, and never as the client names itself', async () => {
    await start('vllm', { ratio: 0.15, max_ratio: 1, users: true })
    const userIn = async (more: object, options?: string): Promise<string> => {
      const got = JSON.parse(await sent(JSON.stringify({ ...JSON.parse(body), ...more }), options))
      return got.kv_transfer_params.reprise.user
    }
    const nobody = await userIn({})
    const ann = await userIn({ user: 'ann' })
    expect([nobody, ann]).toEqual([expect.stringMatching(/^[\w-]{22}$/), expect.stringMatching(/^[\w-]{22}$/)])
    expect(ann).not.toBe(nobody)
    expect(await userIn({ kv_transfer_params: { reprise: { user: ann, reuse: 0.5 } } })).toBe(nobody)
    expect(await userIn({ user: 'ann', kv_transfer_params: { x: 1 } }, 'reuse=off')).toBe(ann)
  })

  test('names the user in a body that is too large to be rewritten, and refuses one in which it cannot', async () => {
    await start('vllm', { ratio: 0.15, max_ratio: 1, users: true })
    const messages = [{ role: 'user', content: 'a<b\n'.repeat(1_000_000) }]
    const post = (params: string): Promise<Response> =>
      postJson(
        `${proxy.url}/v1/chat/completions`,
        `{"messages":${JSON.stringify(messages)},"kv_transfer_params":${params}}`,
      )
    const own = (rest: string): string => `{"reprise":{"user":"mine"},"rest":${rest}}`
    expect((await post(own(JSON.stringify('x'.repeat(10_000))))).status).toBe(200)
    const { body } = engine.requests.filter(({ url }) => url === '/v1/chat/completions').at(-1)!
    expect(JSON.parse(body.toString()).kv_transfer_params.reprise.user).toMatch(/^[\w-]{22}$/)
    const before = engine.requests.length
    for (const params of [own('NaN'), own(JSON.stringify('x'.repeat(100_000)))]) {
      const refused = await post(params)
      expect([refused.status, (await errorOf(refused)).code]).toEqual([400, 'invalid_body'])
    }
    expect(engine.requests.slice(before).map(({ url }) => url)).not.toContain('/v1/chat/completions')
  })

  test('says where the question stands if it precedes the documents, to an engine that reads it', async () => {
    const documents = ['alpha', 'beta'].map((name) => `<document>\n${`${name} `.repeat(60)}\n</document>`)
    const content = `Question: why is it so?\n\n<documents>\n${documents.join('\n')}\n</documents>`
    const asking = JSON.stringify({ messages: [{ role: 'user', content }] })
    const questionIn = (got: string): unknown => JSON.parse(got).kv_transfer_params?.reprise?.question
    await start('vllm', { ratio: 0.15, max_ratio: 1, question: true })
    expect(await replicaOf()).toMatchObject({ reuse: { question: true } })
    const [from, to] = questionIn(await sent(asking)) as [number, number]
    expect(from).toBe(0)
    expect(to).toBeGreaterThan(4)
    expect(to).toBeLessThan(30)
    expect(questionIn(await sent(asking, 'reuse=off'))).toBeUndefined()
    expect(await sent(body)).toBe(body)
    await proxy.close()
    await start('vllm', { ratio: 0.15, max_ratio: 1 })
    expect(await sent(asking)).toBe(asking)
  })

  test('is added to nothing that does not wish', async () => {
    await start('vllm', { ratio: 0.15, max_ratio: 1 })
    expect(await sent(body)).toBe(body)
    expect(await sent(body, 'reorder=off')).toBe(body)
  })

  test.each<[kind: EngineKind, reuse: unknown]>([
    ['vllm', null],
    ['openai', { ratio: 0.15, max_ratio: 1 }],
  ])('is not told to a %s engine whose snapshot says %j', async (kind, reuse) => {
    await start(kind, reuse)
    expect(await replicaOf()).toMatchObject({ reuse: null })
    expect(await sent(body, 'reuse=0.5')).toContain(body.slice(1))
    expect(await sent(body, 'reuse=0.5')).not.toContain('kv_transfer_params')
  })

  test('reaches an SGLang that reuses in a member of its own, beside a share of pages', async () => {
    await start('sglang', { ratio: 0.15, max_ratio: 1 })
    const members = '"custom_params":{"reprise":{"reuse":0.5},"reprise_pages":0.25},'
    expect(await sent(body, 'reuse=0.5,pages=0.25')).toContain(members)
    expect(await sent(body, 'reuse=0.5')).not.toContain('kv_transfer_params')
  })

  test.each<[kind: EngineKind, prefix: string]>([
    ['vllm', '{"vllm_xargs":{"reprise_pages":0.25},'],
    ['sglang', '"custom_params":{"reprise_pages":0.25},'],
    ['openai', '{'],
  ])('of a share of pages reaches an engine that could have our plugin, and no other: %s', async (kind, prefix) => {
    await start(kind, null)
    const got = await sent(body, 'pages=0.25')
    expect(got).toContain(prefix)
    expect(got).toContain(body.slice(1))
    expect(got.includes('reprise_pages')).toBe(kind !== 'openai')
  })

  test('has to be one', async () => {
    await start('vllm', { ratio: 0.15, max_ratio: 1 })
    const response = await postJson(`${proxy.url}/v1/chat/completions`, body, {
      headers: { 'x-reprise-options': 'reuse=much' },
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('reuse=off|0…1')
  })
})

describe('an engine that reuses at any position', () => {
  let emulator: Emulator

  /** Starts a proxy in front of an emulator and waits until its mirror is exact. */
  async function start(reuse: number | undefined): Promise<void> {
    const adminPort = await findFreePort()
    const callbackUrl = `http://127.0.0.1:${adminPort}/v1/replicas/gpu-0`
    const fast = { host: '127.0.0.1', port: 0, capacityTokens: 100_000, prefillTokensPerSecond: 1e9 }
    emulator = await startEmulator({
      ...fast,
      kind: 'vllm',
      callbackUrl,
      ...(reuse === undefined ? {} : reusing(reuse)),
    })
    close.push(() => emulator.close())
    const admin = { listen: `127.0.0.1:${adminPort}` }
    proxy = await startTestProxy({ url: emulator.url, kind: 'vllm', id: 'gpu-0' }, { admin })
    await vi.waitFor(async () => expect(await replicaOf()).toMatchObject({ mode: 'exact' }), { timeout: 10_000 })
  }

  const blocks = ['Paris', 'Rome', 'Oslo', 'Bonn'].map((city) =>
    `What is known of ${city}, and told again. `.repeat(30),
  )
  const ask = (question: string, places: readonly number[], more: object = {}, headers = {}): Promise<Response> => {
    const asked = places.map((place) => blocks[place]!)
    const body = ragRequest(question, asked, { max_tokens: 9, ...more })
    return postJson(`${proxy.url}/v1/chat/completions`, body, { headers })
  }
  const metric = async (name: string): Promise<number> =>
    Number(
      new RegExp(`^reprise_${name} (\\S+)$`, 'm').exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())![1],
    )

  test('is followed: what it reused and computed again is counted, beside what is exact', async () => {
    await start(0.2)
    proxy.log.level = 'info'
    const info = vi.spyOn(proxy.log, 'info').mockImplementation(() => {})
    await (await ask('first', [0, 1])).json()
    const stream = { stream: true, stream_options: { include_usage: true } }
    await (await ask('second', [2, 1, 0], stream, { 'x-reprise-options': 'reorder=off' })).text()
    expect(await replicaOf()).toMatchObject({ reuse: { ratio: 0.2, max_ratio: 1 } })
    const reused = await metric('reused_tokens_total')
    expect(reused).toBeGreaterThan(300)
    expect(await metric('recomputed_tokens_total')).toBeCloseTo(reused / 4, -1)
    const { samples } = (await (await fetch(`${proxy.adminUrl}/v1/stats`)).json()) as { samples: object[] }
    expect(samples.at(-1)).toMatchObject({ reused_tokens: reused })
    const line = info.mock.calls.map(([record]) => record as unknown as Record<string, number>).at(-1)!
    const { prompt_tokens, cached_tokens, reused_tokens, recomputed_tokens, cold_tokens } = line
    expect([reused_tokens, recomputed_tokens]).toEqual([reused, await metric('recomputed_tokens_total')])
    expect(cached_tokens! + reused_tokens! + recomputed_tokens! + cold_tokens!).toBe(prompt_tokens)
  })

  test('is predicted in the head of the answer, where the engine can', async () => {
    await start(0.2)
    await (await ask('first', [0, 1])).json()
    const answer = await ask('second', [2, 1, 0], {}, { 'x-reprise-options': 'reorder=off' })
    const predicted = Number(answer.headers.get('x-reprise-predicted-reused-tokens'))
    const { usage } = (await answer.json()) as { usage: { prompt_tokens_details: { reused_tokens: number } } }
    expect(predicted / usage.prompt_tokens_details.reused_tokens).toBeCloseTo(1, 1)
    const { predicted_reused_tokens: explained } = (await (
      await postJson(`${proxy.adminUrl}/v1/explain`, ragRequest('third', [blocks[3]!, blocks[0]!]), {
        headers: { 'x-reprise-options': 'reorder=off' },
      })
    ).json()) as { predicted_reused_tokens: number }
    expect(explained).toBeGreaterThan(predicted / 3)
  })

  test('gets blocks in the order received where moving them would save less than it costs', async () => {
    await start(0)
    await (await ask('first', [0, 1])).json()
    const kept = await ask('second', [1, 0])
    expect(kept.headers.get('x-reprise-skipped')).toBe('reuse_is_enough')
    expect(kept.headers.get('x-reprise-moved')).toBe('0')
    const moved = await ask('third', [1, 0], {}, { 'x-reprise-options': 'reuse=off' })
    expect(moved.headers.get('x-reprise-moved')).toBe('2')
    const { usage } = (await moved.json()) as { usage: { prompt_tokens_details: { reused_tokens?: number } } }
    expect(usage.prompt_tokens_details.reused_tokens).toBeUndefined()
  })

  test('has no such head where it cannot', async () => {
    await start(undefined)
    expect((await ask('first', [0, 1])).headers.get('x-reprise-predicted-reused-tokens')).toBeNull()
  })
})

test('what runs is expected to leave no more in the exact cache than stands in front of what it reuses', async () => {
  const engine = await startRecordingEngineDouble()
  close.push(() => engine.close())
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
  const snapshot = { generation: 'g', sequence: 0, requests: [], reuse: { ratio: 0, max_ratio: 1 } }
  await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, snapshot)
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => `${letter}, and more of it. `.repeat(50)) as [
    string,
    string,
    string,
  ]
  const headers = { 'x-reprise-options': 'reorder=off' }
  const send = async (...blocks: string[]): Promise<void> => {
    await (await postJson(`${proxy.url}/v1/chat/completions`, ragRequest('q', blocks), { headers })).text()
  }
  const predict = async (...blocks: string[]): Promise<{ cached: number; reused: number }> => {
    const answer = await postJson(`${proxy.adminUrl}/v1/explain`, ragRequest('next', blocks), { headers })
    const told = (await answer.json()) as { predicted_cached_tokens: number; predicted_reused_tokens: number }
    return { cached: told.predicted_cached_tokens, reused: told.predicted_reused_tokens }
  }
  await send(a, b)
  const exact = await predict(a, b)
  await send(c, b, a)
  const behind = await predict(c, b, a)
  expect(behind.cached).toBeLessThan(0.7 * exact.cached)
  expect(behind.reused).toBeGreaterThan(0.8 * exact.cached)
})

test('an engine that asks for users is predicted to reuse what a user has sent himself, or two users have', async () => {
  const engine = await startRecordingEngineDouble()
  close.push(() => engine.close())
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
  const snapshot = { generation: 'g', sequence: 0, requests: [], reuse: { ratio: 0, max_ratio: 1, users: true } }
  await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, snapshot)
  const textOf = (letter: string): string => `${letter}, and more of it. `.repeat(50)
  const sendAs = async (user: string, letters: string): Promise<{ skipped: string | null; reused: number }> => {
    const body = ragRequest(`What does ${user} ask?`, [...letters].map(textOf), { user })
    const { headers } = await postJson(`${proxy.url}/v1/chat/completions`, body)
    const reused = Number(headers.get('x-reprise-predicted-reused-tokens'))
    return { skipped: headers.get('x-reprise-skipped'), reused }
  }
  await sendAs('one', 'ab')
  // moved, since it would be computed
  expect(await sendAs('two', 'ba')).toEqual({ skipped: null, reused: 0 })
  const enough = { skipped: 'reuse_is_enough', reused: expect.toSatisfy((tokens) => tokens > 0) }
  expect(await sendAs('three', 'ba')).toEqual(enough)
  await sendAs('one', 'cd')
  expect(await sendAs('one', 'dc')).toEqual(enough)
})

describe('of two engines', () => {
  const long = ['a', 'b', 'c', 'd'].map((letter) => `${letter}, and more of it. `.repeat(150))
  const asReceived = { headers: { 'x-reprise-options': 'reorder=off' } }

  /** Starts gpu-0 and gpu-1, which reuse like this. */
  async function startBoth(reuses: readonly unknown[]): Promise<{
    engines: RecordingEngineDouble[]
    control: (path: string, body?: unknown) => Promise<Response>
    send: (question: string, ...places: number[]) => Promise<string | null>
  }> {
    const engines = await Promise.all([startRecordingEngineDouble(), startRecordingEngineDouble()])
    for (const engine of engines) close.push(() => engine.close())
    const list = engines.map(({ url }, i) => ({ url, kind: 'vllm' as const, id: `gpu-${i}` }))
    proxy = await startTestProxy(undefined, { engines: list })
    const control = (path: string, body: unknown = {}) => postJson(`${proxy.adminUrl}/v1/replicas/${path}`, body)
    for (const [i, reuse] of reuses.entries())
      await control(`gpu-${i}/snapshot`, { generation: 'g', sequence: 0, requests: [], reuse })
    const send = async (question: string, ...places: number[]): Promise<string | null> => {
      const body = ragRequest(
        question,
        places.map((place) => long[place]!),
      )
      const answer = await postJson(`${proxy.url}/v1/chat/completions`, body, asReceived)
      await answer.text()
      return answer.headers.get('x-reprise-replica')
    }
    return { engines, control, send }
  }

  /** Returns the replica chosen for a request: gpu-0 has processed all its blocks, gpu-1 holds the first as prefix. */
  async function chooseBetween(reuse: unknown): Promise<string | null> {
    const { control, send } = await startBoth([reuse, null])
    await control('gpu-1/drain')
    await send('first', 0, 1, 2, 3)
    await control('gpu-0/drain')
    await control('gpu-1/resume')
    await send('second', 3)
    await control('gpu-0/resume')
    return send('third', 3, 2, 1)
  }

  test('the one is chosen that has least to compute, reuse at any position included', async () => {
    expect(await chooseBetween({ ratio: 0.15, max_ratio: 1 })).toBe('gpu-0')
  })

  test('and without it the one that holds the longest prefix', async () => {
    expect(await chooseBetween(null)).toBe('gpu-1')
  })

  test.each([
    ['the one that holds the documents is waited for', {}, 'gpu-0'],
    ['not where the other can fetch them from a store of both', { remote: true }, 'gpu-1'],
  ])('%s', async (_, shared, chosen) => {
    const reuse = { ratio: 0.15, max_ratio: 1, ...shared }
    const { engines, control, send } = await startBoth([reuse, reuse])
    const answer = (): void => {
      for (const engine of engines) engine.answer((response) => response.writeHead(200).end('{}'))
    }
    answer()
    await control('gpu-1/drain')
    await send('first', 0, 1, 2, 3)
    const reached = new Promise((resolve) =>
      engines[0]!.answer((_response, { url }) => url.endsWith('/chat/completions') && resolve(url)),
    )
    const busy = new AbortController()
    const messages = [{ role: 'user', content: 'nothing of it '.repeat(1_100) }]
    const running = postJson(`${proxy.url}/v1/chat/completions`, { messages }, { signal: busy.signal })
    await reached
    answer()
    await control('gpu-1/resume')
    expect(await send('second', 3, 1, 0, 2)).toBe(chosen)
    busy.abort()
    await expect(running).rejects.toThrow()
  })
})
