import { beforeEach, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineAdapter, EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import type { ReplicaId, RequestId, ScopeId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { KeyEntry } from '../../access/api-keys.ts'
import type { Call, RoutedCall } from '../../call/call.ts'
import { Admission } from '../../replicas/admission.ts'
import { CircuitBreaker } from '../../replicas/circuit-breaker.ts'
import { HealthState } from '../../replicas/health-checks.ts'
import { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { Replica } from '../../replicas/replica.ts'
import { ReplicaSet } from '../../replicas/replica-set.ts'
import type { PinLimits } from './pin-book.ts'
import { PinKeeper } from './pin-keeper.ts'

let now = 0
let limits: PinLimits
let outcomes: string[] = []
let kept: [string, number][] = []
let errors: unknown[] = []
let sent: string[] = []
/** what the engine answers to requests of ours */
let answer: { status: number; usage?: object }
let isSilent = false

const engineDouble: EngineClient['aside'] = {
  send: ({ body }, handler) => {
    sent.push(String(body))
    if (isSilent) return
    const controller = { abort: () => {} } as never
    handler.onRequestStart?.(controller, undefined)
    handler.onResponseStart?.(controller, answer.status, {})
    handler.onResponseData?.(controller, Buffer.from(JSON.stringify({ id: 'x', choices: [], usage: answer.usage })))
    handler.onResponseEnd?.(controller, {})
  },
}

function create(kind: EngineKind = 'vllm', rest: Partial<EngineAdapter> = {}): Replica {
  const mirror = new CacheMirror({ maxRequests: 100, maxBlocks: 100 })
  return new Replica({
    adapter: { ...adapterFor(kind), ...rest },
    engine: {
      ...{ url: 'http://gpu-0', send: () => {}, aside: engineDouble },
      ...{ setTls: () => {}, close: () => Promise.resolve() },
    },
    replicaMirror: new ReplicaMirror('gpu-0' as ReplicaId, mirror),
    admission: new Admission({ windowMilliseconds: 20, capacity: 10, inFlight: 10, now: () => now }),
    breaker: new CircuitBreaker({ failuresInARow: 1, openMilliseconds: 100 }, () => now),
    health: new HealthState(),
  })
}

beforeEach(() => {
  now = 0
  limits = { tokens: 10_000, tenantTokens: 10_000 }
  outcomes = []
  kept = []
  errors = []
  sent = []
  isSilent = false
  answer = { status: 200, usage: usageOf(1_500, 1_490) }
})

const usageOf = (tokens: number, cached?: number): object => ({
  prompt_tokens: tokens,
  completion_tokens: 1,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
})

function createKeeper(replica: Replica): PinKeeper {
  return new PinKeeper({
    replicas: new ReplicaSet([replica]),
    limits: () => limits,
    onMark: (outcome) => outcomes.push(outcome),
    onTokens: () => {},
    onKeep: (...ended) => kept.push(ended),
    log: { error: (details: unknown) => errors.push(details) },
    now: () => now,
  })
}

const prompt = { contexts: [], prefixes: ['all' as ScopeId], ends: [6_000], length: 6_000 }
const passed = (): Promise<unknown> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** Runs a client's request with a mark; `counted`: the tokens that the engine counts. Estimated are 1,500. */
async function ask(
  keeper: PinKeeper,
  replica: Replica,
  { api = 'chat_completions' as Call['api'], counted = 1_500, rest = {}, key = undefined as KeyEntry | undefined } = {},
): Promise<void> {
  const content = [{ type: 'text', text: 'documents', cache_control: { type: 'ephemeral' } }]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...rest }))
  const call = { api, caller: { tenant: 't', key }, model: 'm', content: { body, received: { prompt: {} } } }
  const decision = { sent: [prompt], promptTokens: 1_500 }
  const follower = keeper.follow(call as unknown as Call, { replica, decision } as unknown as RoutedCall)
  const headers = ['authorization', 'Bearer own', 'cookie', 'large']
  follower?.sent?.({ path: '/v1/chat/completions', method: 'POST', headers, body })
  follower?.used?.({ promptTokens: counted } as never)
  follower?.ended?.(true)
  const run = 'run' as RequestId
  replica.cache.sent(run, prompt)
  replica.cache.ended([run])
  await passed()
}

/** Lets a minute pass in which the engine is asked for what is due. */
async function wait(keeper: PinKeeper): Promise<void> {
  now += 60_000
  keeper.tick()
  await passed()
}

test('a fault of ours ends one attempt, which is repeated when the pin is due again', async () => {
  let attempts = 0
  const tagRequest = (): never => {
    attempts += 1
    throw new Error('a fault')
  }
  const replica = create('vllm', { tagRequest })
  const keeper = createKeeper(replica)
  await ask(keeper, replica)
  await wait(keeper)
  expect([attempts, kept, errors.length]).toEqual([1, [['failed', 0]], 1])
  now += 10_000
  keeper.tick()
  expect(attempts).toBe(1)
  await wait(keeper)
  expect(attempts).toBe(2)
})

test('only Chat Completions and Messages are searched, and only of our engines', async () => {
  const [vllm, service] = [create(), create('openai')]
  const keeper = createKeeper(vllm)
  for (const api of ['completions', 'responses', 'generate'] as const) await ask(keeper, vllm, { api })
  await ask(createKeeper(service), service)
  expect(outcomes).toEqual([])
  await ask(keeper, vllm, { api: 'messages' })
  await ask(keeper, vllm)
  expect(outcomes).toEqual(['pinned', 'pinned'])
})

test('limits count the tokens that the engine counts', async () => {
  const replica = create()
  limits = { tokens: 10_000, tenantTokens: 3_000 }
  const keeper = createKeeper(replica)
  await ask(keeper, replica, { counted: 3_001 })
  await ask(keeper, replica, { counted: 3_000 })
  expect(outcomes).toEqual(['tenant_limit', 'pinned'])
})

test('of a request, its prompt, its salt and its credentials are kept', async () => {
  const replica = create()
  const keeper = createKeeper(replica)
  await ask(keeper, replica, { rest: { temperature: 1, metadata: { of: 'the client' }, cache_salt: 'own' } })
  await wait(keeper)
  const body = { model: 'm', messages: [{ role: 'user', content: [expect.objectContaining({ text: 'documents' })] }] }
  expect(sent.map((json) => JSON.parse(json))).toEqual([{ ...body, cache_salt: 'own', max_tokens: 1 }])
})

test.each([
  ['most of it was found', usageOf(1_500, 1_300), 16, 'held', 200],
  ['a page was not full', usageOf(1_785, 1_024), 1_024, 'held', 761],
  ['more than a page was computed', usageOf(3_000, 1_024), 1_024, 'computed', 1_976],
  ['much was computed', usageOf(1_500, 16), 16, 'computed', 1_484],
])('a pin is held or lost: %s', async (_, usage, pageTokens, outcome, computed) => {
  const replica = create()
  replica.statedCache = { pageTokens } as never
  const keeper = createKeeper(replica)
  await ask(keeper, replica)
  answer.usage = usage
  await wait(keeper)
  expect(kept).toEqual([[outcome, computed]])
})

test('where an engine does not count cached tokens, what it was believed to hold counts', async () => {
  const replica = create()
  const keeper = createKeeper(replica)
  await ask(keeper, replica)
  const before = replica.mirror.predictCachedTokens(prompt)
  expect(before).toBeGreaterThan(1_000)
  answer.usage = usageOf(before + 10)
  await wait(keeper)
  expect(kept).toEqual([['held', 10]])
})

test('a client’s pin goes with its API key, and none is made of what was under way then', async () => {
  const replica = create()
  const keeper = createKeeper(replica)
  const key = { id: 'revoked' } as KeyEntry
  await ask(keeper, replica, { key })
  expect(keeper.describe()).toMatchObject({ pins: [{}] })
  keeper.admits = (one) => one?.id !== 'revoked'
  await wait(keeper)
  expect(keeper.describe()).toMatchObject({ tokens: 0, pins: [] })
  await ask(keeper, replica, { key })
  expect(keeper.describe()).toMatchObject({ tokens: 0, pins: [] })
})

test.each([
  [400, 1],
  [408, 2],
  [409, 2],
  [425, 2],
  [429, 2],
  [500, 2],
])('a pin that an engine answers with %i is sent %i times of 2', async (status, times) => {
  const replica = create()
  const keeper = createKeeper(replica)
  await ask(keeper, replica)
  answer.status = status
  await wait(keeper)
  await wait(keeper)
  expect([sent.length, kept.length]).toEqual([times, times])
})

test('what is broken off because the proxy stops has not failed', async () => {
  const replica = create()
  const keeper = createKeeper(replica)
  await ask(keeper, replica)
  isSilent = true
  await wait(keeper)
  keeper.close()
  await passed()
  expect(kept).toEqual([['interrupted', 0]])
})
