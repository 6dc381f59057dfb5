import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { EngineConfig } from '../../config/config.ts'
import { defaultConfig } from '../../config/sources/config-source.ts'
import { type RunningProxy, startProxy } from '../../start/main.ts'
import { ReplicaMirror } from '../mirror/replica-mirror.ts'
import { KvEngineDouble } from '../reports/kv-engine-double.fixture.ts'
import { EngineEvents } from './engine-events.ts'

interface Described {
  readonly mode: string
  readonly generation?: string
  readonly sequence: number
  readonly requests: number
  readonly cached_tokens: number
}

/** 64 blocks of 16 words: room for three prompts. */
const capacity = 64
const words = (name: string, count: number): string => Array.from({ length: count }, (_, i) => `${name}${i}`).join(' ')
const promptOf = (name: string): string =>
  Array.from({ length: 5 }, (_, i) => `<document index="${i + 1}">\n${words(`${name}-${i}-`, 60)}\n</document>`).join(
    '\n',
  )

let engine: KvEngineDouble
let proxy: RunningProxy

async function startWith(rest: Partial<EngineConfig> = {}): Promise<void> {
  const { eventsUrl: events, replayUrl: replay } = engine.publisher
  proxy = await startProxy({
    ...defaultConfig(),
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0' },
    engines: [{ url: engine.url, kind: 'vllm', id: 'engine', events, replay, ...rest }],
    drain_seconds: 1,
    logs: { level: 'silent', prompts: false },
  })
}

beforeEach(async () => {
  engine = await new KvEngineDouble(capacity).start()
})

afterEach(async () => {
  await proxy.close()
  await engine.stop()
})

async function ask(
  name: string,
  question = 'Why?',
  signal?: AbortSignal,
): Promise<{ predicted: number; reported: number; host: number; remote: number }> {
  const content = `<documents>\n${promptOf(name)}\n</documents>\n\nQuestion: ${question}`
  const response = await fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    signal: signal ?? null,
  })
  expect(response.status).toBe(200)
  await response.text()
  return {
    predicted: Number(response.headers.get('x-reprise-predicted-cached-tokens')),
    host: Number(response.headers.get('x-reprise-predicted-host-tokens')),
    remote: Number(response.headers.get('x-reprise-predicted-remote-tokens')),
    reported: engine.reported.at(-1)!,
  }
}

async function mirror(): Promise<Described> {
  const response = await fetch(`${proxy.adminUrl}/v1/mirror`)
  return ((await response.json()) as { replicas: Described[] }).replicas[0]!
}

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 30 })
/** The engine's blocks as tokens. */
const held = (): number => engine.held * 16
/** Waits until the mirror matches what is really cached, to within a block per request. */
const untilTrue = (requests: number): Promise<void> =>
  until(async () => {
    const described = await mirror()
    expect(described).toMatchObject({ mode: 'exact', requests })
    expect(described.cached_tokens).toBeLessThanOrEqual(held())
    expect(described.cached_tokens).toBeGreaterThan(held() - requests * 80)
  })

test('the mirror is exact before the first request, and knows after it what the engine has stored', async () => {
  await startWith()
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'exact', requests: 0 }))
  await ask('a')
  await untilTrue(1)
  const { predicted, reported } = await ask('a', 'And how?')
  expect(reported).toBeGreaterThan(250)
  expect(predicted).toBe(reported)
})

test('what a client did not wait for is held all the same, and predicted', async () => {
  await startWith()
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'exact' }))
  engine.answerMilliseconds = 60_000
  await expect(ask('a', 'Why?', AbortSignal.timeout(500))).rejects.toThrow('timeout')
  // until its tokens are known
  engine.answerMilliseconds = 100
  await untilTrue(1)
  const { predicted, reported } = await ask('a', 'Again?')
  expect(reported).toBeGreaterThan(250)
  expect(predicted).toBe(reported)
})

test('events that do not name salts make the mirror degraded, which believes what was sent, and say so', async () => {
  engine.namesSalts = false
  await startWith()
  const warn = vi.spyOn(proxy.log, 'warn')
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'exact' }))
  engine.answerMilliseconds = 100
  await ask('a')
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'degraded', requests: 1 }))
  expect(warn.mock.calls).toEqual([[{ replica: 'engine' }, expect.stringContaining('salt')]])
  const { predicted, reported } = await ask('a', 'And how?')
  expect(reported).toBeGreaterThan(250)
  expect(predicted).toBe(reported)
})

test('where reuse at any position cannot be told from exact blocks, what was sent is believed, and that is said', async () => {
  await startWith()
  const warn = vi.spyOn(proxy.log, 'warn')
  await ask('a')
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'exact', requests: 1 }))
  engine.reusedTokens = 80
  await ask('b')
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'degraded', requests: 2 }))
  expect(warn.mock.calls).toEqual([[{ replica: 'engine' }, expect.stringContaining('reuses KV at any position')]])
})

test('a prompt is rendered once, however often it comes', async () => {
  await startWith()
  for (let i = 0; i < 3; i++) {
    await ask('a')
    await until(async () => expect(engine.rendered).toBe(1))
  }
  await ask('b')
  await until(async () => expect(engine.rendered).toBe(2))
})

test('what the engine evicts is believed no more: prediction follows what is left', async () => {
  await startWith()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await ask(name)
  await until(async () => {
    const { cached_tokens } = await mirror()
    expect(cached_tokens).toBeLessThanOrEqual(held())
  })
  const described = await mirror()
  expect(described.mode).toBe('exact')
  expect(described.requests).toBeLessThan(5)
  expect(described.cached_tokens).toBeGreaterThan(held() - 5 * 80)
  const { predicted, reported } = await ask('a', 'Gone?')
  expect(predicted).toBe(reported)
  expect(reported).toBeLessThan(200)
})

test.each(['CPU', 'STORAGE'])(
  'what %s has behind the device is predicted with the rest, and apart; only the host’s is believed to be held',
  async (medium) => {
    engine.copiesTo = medium
    await startWith()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await ask(name)
    await until(async () => {
      const { requests, cached_tokens, sequence } = await mirror()
      // the engine has told of each prompt
      expect(sequence).toBe(4)
      expect([requests < 5, cached_tokens <= held()]).toEqual(medium === 'CPU' ? [false, false] : [true, true])
    })
    const { predicted, reported, host, remote } = await ask('a', 'Where?')
    expect(reported).toBeGreaterThan(250)
    expect(predicted).toBe(reported)
    expect(medium === 'CPU' ? [host > 200, remote] : [host, remote > 200]).toEqual(
      medium === 'CPU' ? [true, 0] : [0, true],
    )
    // by then the device has it
    await until(async () => expect(await ask('a', 'And now?')).toMatchObject({ host: 0, remote: 0 }))
  },
)

test('a cache that was cleared while idle is known with the next step, which is not forgotten with it', async () => {
  await startWith()
  await ask('a')
  await untilTrue(1)
  engine.clear()
  await ask('b')
  await untilTrue(1)
  const { predicted, reported } = await ask('b', 'Still there?')
  expect(reported).toBeGreaterThan(250)
  expect(predicted).toBe(reported)
})

test('an engine that is restarted is soon believed to hold nothing, and is followed from there', async () => {
  await startWith()
  await ask('a')
  await untilTrue(1)
  const { generation } = await mirror()
  await engine.restart()
  await until(async () => {
    const described = await mirror()
    expect(described).toMatchObject({ mode: 'exact', requests: 0 })
    expect(described.generation).not.toBe(generation)
  })
  await ask('a')
  await untilTrue(1)
})

test('a proxy that is restarted learns what the engine holds from what it kept, and ties requests to it', async () => {
  await startWith()
  await ask('a')
  await untilTrue(1)
  await proxy.close()
  await startWith()
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'exact', sequence: 0 }))
  const { predicted, reported } = await ask('a')
  expect(reported).toBeGreaterThan(250)
  expect(predicted).toBe(reported)
  await untilTrue(1)
})

test('an engine that does not render leaves requests alone, and the mirror degraded', async () => {
  engine.canRender = false
  await startWith()
  await ask('a')
  await until(async () => expect(await mirror()).toMatchObject({ mode: 'degraded', requests: 1 }))
  engine.canRender = true
  await ask('b')
  await until(async () => expect((await mirror()).mode).toBe('exact'))
})

test('messages that cannot be read have one line in the log, however many there are', async () => {
  const warn = vi.fn()
  await startWith()
  const events = new EngineEvents({
    eventsUrl: engine.publisher.eventsUrl,
    replayUrl: undefined,
    mirror: new ReplicaMirror('engine' as ReplicaId, new CacheMirror({ maxRequests: 10, maxBlocks: 100 })),
    now: () => performance.now(),
    warn,
    onGap: () => {},
  })
  try {
    await until(async () => {
      await engine.publisher.publish(Buffer.from('no msgpack at all'))
      expect(warn).toHaveBeenCalled()
    })
    for (let i = 0; i < 200; i++) await engine.publisher.publish(Buffer.from('no msgpack at all'))
    await pause(300)
    expect(warn.mock.calls).toEqual([
      [{ fault: expect.stringContaining('msgpack') }, 'a message of the engine was not understood'],
    ])
  } finally {
    await events.close()
  }
})

test('nothing is known where nobody publishes, and requests go on', async () => {
  await startWith({ events: 'tcp://127.0.0.1:9', replay: 'tcp://127.0.0.1:9' })
  await ask('a')
  expect(await mirror()).toMatchObject({ mode: 'fallback', requests: 1 })
})

test('without a place for replays a late joiner is degraded until the engine is cleared', async () => {
  await startWith()
  await ask('a')
  await proxy.close()
  await startWith({ replay: undefined })
  await until(async () => {
    await ask(`b${Math.random()}`)
    expect((await mirror()).mode).toBe('degraded')
  })
  engine.clear()
  await ask('c')
  await until(async () => expect((await mirror()).mode).toBe('exact'))
})
