import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { metricOf } from './placed-blocks.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy
/** the engine's responses, in the order its requests arrived; the test ends them */
let held: ServerResponse[]

async function restart(config: Overrides): Promise<void> {
  await proxy?.close()
  proxy = await startTestProxy(
    { url: engine.url },
    { ...config, limits: { in_flight_per_replica: 1, ...config.limits } },
  )
}

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  held = []
  engine.answer((response) => held.push(response))
  await restart({})
})

afterEach(async () => {
  for (const response of held) response.destroy()
  await proxy.close()
  await engine.close()
})

const chat = (text: string, headers: Record<string, string> = {}, rest: object = {}): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, { messages: [{ role: 'user', content: text }], ...rest }, { headers })

const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.text()
  return response.status
}

/** Returns the texts of the requests that reached the engine, in order of arrival. */
const said = (): string[] =>
  engine.requests.map(
    ({ body }) => (JSON.parse(body.toString()) as { messages: { content: string }[] }).messages[0]!.content,
  )

const depthIs = (depth: number): Promise<void> =>
  vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, 'reprise_queue_depth')).toBe(depth), { interval: 5 })

const arrived = (count: number): Promise<void> =>
  vi.waitFor(() => expect(engine.requests.length).toBeGreaterThanOrEqual(count), { interval: 5 })

/** Answers the requests at the engine one after another, until `count` have arrived. */
async function answerAll(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await arrived(i + 1)
    if (!held[i]!.writableEnded) held[i]!.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
}

describe('requests that wait for a slot', () => {
  test('run by priority, and those of one priority in the order they came', async () => {
    const asked = [chat('first')]
    await arrived(1)
    const waiting: [string, Record<string, string>][] = [
      ['late', { 'x-reprise-priority': '9' }],
      ['none', {}],
      ['also none', {}],
      ['soon', { 'x-reprise-priority': '-5' }],
      ['later', { 'x-reprise-priority': '10' }],
    ]
    for (const [i, [text, headers]] of waiting.entries()) {
      asked.push(chat(text, headers))
      await depthIs(i + 1)
    }
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^reprise_in_flight\{replica="[^"]+"\} 1$/m)
    await answerAll(6)
    expect(await Promise.all(asked.map(statusOf))).toEqual([200, 200, 200, 200, 200, 200])
    expect(said()).toEqual(['first', 'soon', 'none', 'also none', 'late', 'later'])
  })

  test('share the engine between tenants: a flood of one does not hold up the other', async () => {
    const flood = { authorization: 'Bearer flood' }
    // the engine's time is shared fairly, so these prompts have some thousand tokens and no common prefix
    const long = (name: string): string => `${name} ${name.repeat(3000)}`
    const asked = Array.from({ length: 20 }, (_, i) => chat(long(`flood ${i}`), flood))
    await arrived(1)
    await depthIs(19)
    // even with a high priority set by the flooding tenant itself
    asked.push(
      ...Array.from({ length: 10 }, (_, i) => chat(long(`urgent ${i}`), { ...flood, 'x-reprise-priority': '-1000' })),
    )
    await depthIs(29)
    const others = [1, 2].map((i) => chat(long(`other ${i}`), { authorization: 'Bearer other' }))
    await depthIs(31)
    await answerAll(32)
    await Promise.all([...asked, ...others].map(statusOf))
    const places = said().flatMap((text, place) => (text.startsWith('other') ? place : []))
    expect(places[0]).toBeLessThanOrEqual(4)
    expect(places[1]).toBeLessThanOrEqual(6)
  })

  test('leave at once when their client goes, and never reach the engine', async () => {
    const first = chat('first')
    await arrived(1)
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [{ role: 'user', content: 'gone' }] }))
    await depthIs(1)
    client.reset()
    // the first request still holds the only slot
    await depthIs(0)
    const next = chat('next')
    await answerAll(2)
    expect(await Promise.all([first, next].map(statusOf))).toEqual([200, 200])
    expect(said()).toEqual(['first', 'next'])
    expect(await metricOf(proxy.adminUrl, 'reprise_stream_aborts_total{phase="queue"}')).toBe(1)
  })

  test('wait for a stream to end, not for its beginning', async () => {
    const stream = await (async () => {
      const asked = chat('stream', {}, { stream: true })
      await arrived(1)
      held[0]!.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
      return asked
    })()
    const next = chat('next')
    await depthIs(1)
    await delay(100)
    expect(engine.requests).toHaveLength(1)
    held[0]!.end('data: [DONE]\n\n')
    expect(await stream.text()).toBe('data: {}\n\ndata: [DONE]\n\n')
    await arrived(2)
    held[1]!.end('{}')
    expect(await statusOf(next)).toBe(200)
  })

  test('get the slot of a stream whose client or engine breaks off', async () => {
    for (const [i, breakOff] of [(client: { reset(): void }) => client.reset(), () => held[2]!.destroy()].entries()) {
      const client = await connectRaw(proxy.url)
      client.write(rawPost('/v1/chat/completions', { messages: [{ role: 'user', content: 'stream' }], stream: true }))
      await arrived(2 * i + 1)
      held[2 * i]!.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
      await client.until('data: {}')
      const next = chat('next')
      await depthIs(1)
      breakOff(client)
      await arrived(2 * i + 2)
      held[2 * i + 1]!.end('{}')
      expect(await statusOf(next)).toBe(200)
    }
  })

  test('are told their waiting time', async () => {
    const first = chat('first')
    await arrived(1)
    const second = chat('second')
    await depthIs(1)
    await delay(120)
    await answerAll(2)
    await first
    const timing = (await second).headers.get('server-timing')
    expect(Number(/queue;dur=([\d.]+)/.exec(timing!)![1])).toBeGreaterThan(100)
  })
})

describe('a queue that is full', () => {
  test('answers 429 with retry-after, in the shape of each API, and lets in again what there is room for', async () => {
    await restart({ waitingRequests: 1 })
    const asked = [chat('first')]
    await arrived(1)
    asked.push(chat('second'))
    await depthIs(1)
    const prompt = { messages: [{ role: 'user', content: 'x' }], prompt: 'x', input: 'x', text: 'x' }
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages', '/generate']) {
      const response = await postJson(proxy.url + path, prompt)
      expect(response.status).toBe(429)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(await response.json()).toMatchObject(
        path === '/v1/messages'
          ? { type: 'error', error: { type: 'rate_limit_error', code: 'queue_full', message: expect.any(String) } }
          : { error: { type: 'invalid_request_error', param: null, code: 'queue_full' } },
      )
    }
    expect(engine.requests).toHaveLength(1)
    await answerAll(2)
    expect(await Promise.all(asked.map(statusOf))).toEqual([200, 200])
    const third = chat('third')
    await answerAll(3)
    expect(await statusOf(third)).toBe(200)
  })

  test('of one tenant has room for another', async () => {
    await restart({ waitingRequests: 8 })
    const asked = Array.from({ length: 9 }, (_, i) => chat(`flood ${i}`, { authorization: 'Bearer flood' }))
    await arrived(1)
    const other = chat('other', { authorization: 'Bearer other' })
    const settled = Promise.all([...asked, other].map(statusOf))
    await vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, 'reprise_queue_depth')).toBeGreaterThan(0))
    await delay(100)
    let isSettled = false
    void settled.finally(() => {
      isSettled = true
    })
    for (let answered = 0; !isSettled; await delay(10)) {
      while (held.length > answered) held[answered++]!.end('{}')
    }
    expect((await settled).at(-1)).toBe(200)
    expect(said()).toContain('other')
  })
})

describe('a request that waits for too long', () => {
  test('is answered with 504 and is not sent afterwards', async () => {
    await restart({ limits: { max_wait_seconds: 0.15 } })
    const first = chat('first')
    await arrived(1)
    const began = performance.now()
    const late = await chat('late')
    expect([late.status, (await errorOf(late)).code]).toEqual([504, 'deadline_exceeded'])
    expect(performance.now() - began).toBeGreaterThan(140)
    const message = { max_tokens: 1, messages: [{ role: 'user', content: 'late' }] }
    const anthropic = await postJson(`${proxy.url}/v1/messages`, message)
    expect(await anthropic.json()).toMatchObject({
      type: 'error',
      error: { type: 'timeout_error', code: 'deadline_exceeded' },
    })
    // a request already at the engine has no deadline
    held[0]!.end('{}')
    expect(await statusOf(first)).toBe(200)
    await delay(50)
    expect(said()).toEqual(['first'])
  })
})
