import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { type RunningReprise, startReprise } from './start-reprise.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'
import { until } from './watch-faults.ts'

const chat = '/v1/chat/completions'
const events = 20

let engine: RecordingEngineDouble
const started: RunningReprise[] = []

async function start(...[args, options]: Parameters<typeof startReprise>): Promise<RunningReprise> {
  const reprise = await startReprise(['--engine', engine.url, ...args], options)
  started.push(reprise)
  return reprise
}

const debugging = { env: { REPRISE_LOGS_LEVEL: 'debug' } }

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  engine.answer(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let i = 0; i < events && !response.destroyed; i++) {
      response.write(`data: {"i":${i}}\n\n`)
      await delay(50)
    }
    response.end('data: [DONE]\n\n')
  })
})
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  for (const { stderr } of started.splice(0)) expect(stderr).not.toMatch(/unhandled|uncaught|\n {4}at /i)
  await engine.close()
})

/** Reads a stream to its end and returns its number of events. */
async function stream(url: string, i: number): Promise<number> {
  const response = await postJson(url, ragRequest(`q${i}`, ['a', String(i % 7), String(i)], { stream: true }))
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  return text.match(/"i":/g)!.length
}

/** Expects `count` simultaneous requests to be answered with 502 while the engine is gone. */
async function expectUnreachable({ url }: RunningReprise, count: number): Promise<void> {
  const asked = Array.from({ length: count }, async () => (await postJson(url + chat, ragRequest('q', ['a']))).status)
  expect(await Promise.all(asked)).toEqual(Array(count).fill(502))
}

async function queueDepth({ adminUrl }: RunningReprise): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/^reprise_queue_depth (\d+)$/m.exec(metrics)![1])
}

async function isDraining({ adminUrl }: RunningReprise): Promise<boolean> {
  return (await fetch(`${adminUrl}/readyz`)).status === 503
}

describe('SIGTERM under load', () => {
  test('cuts off no stream, waiting requests included, and turns away what comes after', async () => {
    const reprise = await start([])
    const url = reprise.url + chat
    const early = Promise.allSettled(Array.from({ length: 60 }, (_, i) => stream(url, i)))
    const idle = await connectRaw(reprise.url)
    const half = await connectRaw(reprise.url)
    const request = rawPost(chat, ragRequest('begun before', ['a', 'b']), ['expect: 100-continue'])
    half.write(request.slice(0, -10))
    await half.until('100 Continue')
    await until(async () => engine.requests.length + (await queueDepth(reprise)) >= 60)
    reprise.child.kill('SIGTERM')
    await until(() => isDraining(reprise))

    half.write(request.slice(-10))
    idle.write(rawPost(chat, ragRequest('too late', ['a', 'b'])))
    expect(await idle.ended).toMatch(/^HTTP\/1\.1 503 .*connection: close.*"draining"/is)
    for (const [path, size] of [
      [chat, 10],
      [chat, 5_000_000],
      ['/v1/embeddings', 10],
      ['/v1/embeddings', 5_000_000],
    ] as const) {
      const late = await postJson(reprise.url + path, ragRequest('too late', ['x'.repeat(size), 'y']))
      expect([late.status, late.headers.get('connection')]).toEqual([503, 'close'])
      expect(await late.json()).toMatchObject({ error: { code: 'draining' } })
    }
    expect(await early).toEqual(Array(60).fill({ status: 'fulfilled', value: events }))
    await half.until('data: [DONE]')
    expect(await reprise.exited).toBe(0)
    expect(engine.requests).toHaveLength(61)
  })

  test.each(['the signal', 'POST /v1/drain'])(
    'with a delay, %s has requests served on connections that end, then refused',
    async (how) => {
      const environment = { REPRISE_DRAIN_DELAY_SECONDS: '3' }
      const reprise = await start([], { env: environment })
      const open = await connectRaw(reprise.url)
      open.write(rawPost(chat, ragRequest('before', ['a', 'b'])))
      await open.until('data: [DONE]')
      if (how === 'the signal') reprise.child.kill('SIGTERM')
      else for (const _ of 'twice!') expect((await postJson(`${reprise.adminUrl}/v1/drain`, {})).status).toBe(202)
      await until(async () => (await fetch(`${reprise.adminUrl}/readyz`)).status === 503)

      open.write(rawPost(chat, ragRequest('during', ['a', 'b'])))
      expect(await open.ended).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 200 .*connection: close.*\[DONE\]/is)
      await until(async () => {
        const late = await postJson(reprise.url + chat, ragRequest('late', ['a'])).catch(() => undefined)
        await late?.text()
        return late?.status !== 200
      })
      expect(await reprise.exited).toBe(0)
    },
  )

  test('cuts off what is left when the grace period is over, as broken, and ends with 0', async () => {
    engine.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    const reprise = await start([], { env: { REPRISE_DRAIN_SECONDS: '1' } })
    const response = await postJson(reprise.url + chat, ragRequest('endless', ['a']))
    reprise.child.kill('SIGTERM')
    await expect(response.text()).rejects.toThrow()
    expect(await reprise.exited).toBe(0)
    await engine.abortions[0]
  })

  test('ends at once with nobody to wait for but idle connections', async () => {
    const reprise = await start([], { env: { REPRISE_DRAIN_SECONDS: '600' } })
    await stream(reprise.url + chat, 1)
    const idle = await connectRaw(reprise.url)
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(0)
    await idle.ended
  })

  test('ends at once when it is sent twice', async () => {
    engine.answer(() => {})
    const reprise = await start([], { env: { REPRISE_DRAIN_SECONDS: '600' } })
    const client = await connectRaw(reprise.url)
    client.write(rawPost(chat, ragRequest('endless', ['a'])))
    await until(() => engine.requests.length === 1)
    reprise.child.kill('SIGTERM')
    await until(() => isDraining(reprise))
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(1)
  })
})

describe.runIf(process.platform === 'linux')('a full disk for logs', () => {
  test('costs the lines and nothing else', async () => {
    const reprise = await start([], { ...debugging, stderrPath: '/dev/full' })
    for (let i = 0; i < 10; i++) {
      const client = await connectRaw(reprise.url)
      client.write(rawPost(chat, ragRequest(`q${i}`, ['a'])))
      await client.until('"i":0')
      client.reset()
    }
    expect(await Promise.all(Array.from({ length: 20 }, (_, i) => stream(reprise.url + chat, i)))).toEqual(
      Array(20).fill(events),
    )
    const { port } = engine
    await engine.close()
    await expectUnreachable(reprise, 10)
    engine = await startRecordingEngineDouble(port)
    expect((await postJson(reprise.url + chat, ragRequest('q', ['a']))).status).toBe(200)
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(0)
  })

  test('does not keep the embedded emulator from starting', async () => {
    const reprise = await startReprise(['--emulate'], { ...debugging, stderrPath: '/dev/full' })
    started.push(reprise)
    for (let i = 0; i < 5; i++) {
      expect((await postJson(reprise.url + chat, ragRequest(`q${i}`, ['a', 'b']))).status).toBe(200)
    }
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(0)
  })

  test('a log reader that goes away is as little of a fault', async () => {
    const reprise = await start([], debugging)
    reprise.child.stderr!.destroy()
    const { port } = engine
    await engine.close()
    await expectUnreachable(reprise, 20)
    engine = await startRecordingEngineDouble(port)
    expect((await postJson(reprise.url + chat, ragRequest('q', ['a']))).status).toBe(200)
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(0)
  })
})

describe('a clock that jumps', () => {
  /** Preloaded script: twenty times a second, the wall clock jumps back or forth by up to a day. */
  const jumping = `
    const Real = Date
    let offset = 0, step = 0
    setInterval(() => { step += 1; offset = (step % 2 ? 1 : -1) * (step % 24) * 3600e3 }, 50).unref()
    globalThis.Date = class extends Real {
      constructor(...args) { args.length === 0 ? super(Real.now() + offset) : super(...args) }
      static now() { return Real.now() + offset }
    }`

  test('by hours, forth and back, changes no answer and no measured time', async () => {
    const reprise = await start([], { nodeOptions: `--import=data:text/javascript,${encodeURIComponent(jumping)}` })
    const begun = performance.now()
    for (let round = 0; round < 3; round++) {
      const streams = Array.from({ length: 20 }, (_, i) => stream(reprise.url + chat, i))
      expect(await Promise.all(streams)).toEqual(Array(20).fill(events))
    }
    const response = await postJson(reprise.url + chat, ragRequest('timed', ['a', '1']))
    const timings = [...response.headers.get('server-timing')!.matchAll(/dur=(-?[\d.]+)/g)].map(([, ms]) => Number(ms))
    await response.text()
    const elapsed = performance.now() - begun
    for (const timing of timings) expect(timing >= 0 && timing < elapsed).toBe(true)
    const metrics = await (await fetch(`${reprise.adminUrl}/metrics`)).text()
    const sums = [...metrics.matchAll(/^reprise_\w+_seconds_sum(?:\{.*\})? (\S+)$/gm)].map(([, sum]) => Number(sum))
    expect(sums.length).toBeGreaterThan(2)
    for (const sum of sums) expect(sum >= 0 && sum < (61 * elapsed) / 1000).toBe(true)
    reprise.child.kill('SIGTERM')
    expect(await reprise.exited).toBe(0)
  })

  test('while the proxy drains neither shortens nor lengthens the grace period', async () => {
    engine.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      setTimeout(() => response.end('data: 2\n\n'), 1_000)
    })
    const nodeOptions = `--import=data:text/javascript,${encodeURIComponent(jumping)}`
    const reprise = await start([], { nodeOptions, env: { REPRISE_DRAIN_SECONDS: '30' } })
    const response = await postJson(reprise.url + chat, ragRequest('q', ['a']))
    reprise.child.kill('SIGTERM')
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n')
    expect(await reprise.exited).toBe(0)
  })
})

test('a process whose clients and engine break off at random says nothing of unhandled errors', async () => {
  const reprise = await start([], debugging)
  engine.answer((response, { body }) => {
    const luck = body.length % 5
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"i":0}\n\n')
    if (luck === 0) response.socket!.resetAndDestroy()
    else setTimeout(() => (luck === 1 ? response.destroy() : response.end()), luck)
  })
  const clients = Array.from({ length: 200 }, async (_, i) => {
    const client = await connectRaw(reprise.url)
    client.write(rawPost(i % 3 === 0 ? '/v1/embeddings' : chat, ragRequest('q'.repeat(i % 11), ['a', 'b'])))
    if (i % 4 === 0) client.socket.once('data', () => client.reset())
    else if (i % 4 === 1) setTimeout(client.reset, i % 20)
    else setTimeout(client.reset, 500)
    await client.ended
  })
  await Promise.all(clients)
  expect(reprise.child.exitCode).toBeNull()
  expect((await postJson(`${reprise.url}/v1/embeddings`, 'xx')).status).toBe(200)
  reprise.child.kill('SIGTERM')
  await once(reprise.child, 'exit')
  expect(reprise.child.exitCode).toBe(0)
})
