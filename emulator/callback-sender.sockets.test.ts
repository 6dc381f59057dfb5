import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CachedRequest, CacheReport } from './cache/request-ledger.ts'
import { CallbackSender } from './callback-sender.ts'
import { FakeReceiver } from './fake-receiver.fixture.ts'

type StoredReport = Extract<CacheReport, { type: 'stored' }>

const stored = (request_id: string, cached_tokens: number): StoredReport => ({
  type: 'stored',
  request_id,
  cached_tokens,
})

describe('CallbackSender', () => {
  let receiver: FakeReceiver
  let sender: CallbackSender
  let cached: CachedRequest[]
  const warnings: string[] = []

  function createSender(token?: string, heartbeat = 60_000): CallbackSender {
    warnings.length = 0
    const warn = (message: string): void => void warnings.push(message)
    return new CallbackSender({ url: receiver.url, token, snapshot: () => [...cached], warn, heartbeat })
  }

  function report(...reports: StoredReport[]): void {
    for (const { request_id, cached_tokens } of reports) {
      cached = [...cached.filter((one) => one.request_id !== request_id), { request_id, cached_tokens }]
    }
    sender.report(reports)
  }

  const stateArrives = (expected: Record<string, number>) =>
    vi.waitFor(() => expect(Object.fromEntries(receiver.state)).toEqual(expected), { timeout: 5000, interval: 10 })

  beforeEach(async () => {
    cached = []
    receiver = new FakeReceiver()
    await receiver.start()
  })

  afterEach(async () => {
    await sender.close()
    await receiver.stop()
  })

  it('says that it is there while it has nothing to tell, and so notices a receiver that began anew', async () => {
    sender = createSender(undefined, 20)
    await vi.waitFor(() => expect(receiver.posts.length).toBeGreaterThan(3))
    const kinds = receiver.posts
      .slice(0, 3)
      .map(({ path, body }) => [path.split('/').at(-1), body.sequence, body.events])
    expect(kinds).toEqual([
      ['snapshot', 0, undefined],
      ['events', 1, []],
      ['events', 2, []],
    ])
    report(stored('a', 16))
    await stateArrives({ a: 16 })
    receiver.forget()
    await stateArrives({ a: 16 })
  })

  it('begins with an empty snapshot and counts the posts of its generation', async () => {
    sender = createSender('secret')
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(1))
    report(stored('a', 16), stored('b', 32))
    await stateArrives({ a: 16, b: 32 })
    report(stored('a', 48))
    await stateArrives({ a: 48, b: 32 })
    expect(receiver.posts.map(({ path, body }) => [path.split('/').at(-1), body.sequence])).toEqual([
      ['snapshot', 0],
      ['events', 1],
      ['events', 2],
    ])
    expect(receiver.posts[0]?.body.requests).toEqual([])
    expect(receiver.posts.every((post) => post.authorization === 'Bearer secret')).toBe(true)
    expect(new Set(receiver.posts.map((post) => post.body.generation))).toHaveLength(1)
  })

  it('answers a gap with a snapshot at once and goes on from its sequence', async () => {
    sender = createSender()
    report(stored('a', 16))
    await stateArrives({ a: 16 })
    receiver.forget()
    report(stored('b', 32))
    await stateArrives({ a: 16, b: 32 })
    report(stored('c', 48))
    await stateArrives({ a: 16, b: 32, c: 48 })
    const kinds = receiver.posts.map(({ path }) => path.split('/').at(-1))
    expect(kinds.slice(-3)).toEqual(['events', 'snapshot', 'events'])
    const sequences = receiver.posts.slice(-2).map((post) => post.body.sequence)
    expect(sequences[1]).toBe(sequences[0]! + 1)
    expect(warnings).toEqual([])
  })

  it('retries while the receiver is away, warns once, and then sends a snapshot', async () => {
    sender = createSender()
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(1))
    const port = Number(new URL(receiver.url).port)
    await receiver.stop()
    report(stored('a', 16))
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    report(stored('b', 32))
    receiver.forget()
    await receiver.start(port)
    await stateArrives({ a: 16, b: 32 })
    expect(receiver.posts.at(-1)?.path).toBe('/v1/replicas/engine/snapshot')
    // the sender hears that its snapshot was taken after the receiver has it
    await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining('there is no answer'), 'reporting again']))
  })

  it('backs off, without a storm of posts, while it is refused', async () => {
    receiver.refusal = 404
    sender = createSender()
    await delay(250)
    expect(receiver.posts.length).toBeLessThanOrEqual(3)
    expect(warnings).toEqual([expect.stringContaining('the answer is 404')])
    receiver.refusal = 409
    await delay(500)
    expect(receiver.posts.length).toBeLessThanOrEqual(6)
    receiver.refusal = undefined
    report(stored('a', 16))
    await stateArrives({ a: 16 })
  })

  it('puts a snapshot in the place of a queue that grew too long', async () => {
    sender = createSender()
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(1))
    cached = [{ request_id: 'a', cached_tokens: 7 }]
    sender.report(Array.from({ length: 30_000 }, (_, index) => stored('a', index)))
    await stateArrives({ a: 7 })
    expect(receiver.posts.map(({ path }) => path.split('/').at(-1))).toEqual(['snapshot', 'snapshot'])
  })

  it('posts a long queue in several posts', async () => {
    sender = createSender()
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(1))
    sender.report(Array.from({ length: 2500 }, (_, index) => stored(`r${index}`, 16)))
    await vi.waitFor(() => expect(receiver.state.size).toBe(2500))
    expect(receiver.posts.slice(1).map((post) => post.body.events?.length)).toEqual([1000, 1000, 500])
  })

  it('posts what is queued when it is closed', async () => {
    sender = createSender()
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(1))
    report(stored('a', 16))
    await sender.close()
    expect(Object.fromEntries(receiver.state)).toEqual({ a: 16 })
  })

  it('closes when nobody answers', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1/replicas/engine`
    sender = new CallbackSender({ url, token: undefined, snapshot: () => [], warn: () => {} })
    await delay(20)
    // the server never answers
    await sender.close()
    silent.closeAllConnections()
    silent.close()
  })
})
