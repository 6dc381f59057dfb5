import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RadixCache } from './cache/radix-cache.ts'
import type { CacheReport } from './cache/request-ledger.ts'
import { EngineCore, type OutputToken, prefillSeconds } from './engine-core.ts'
import { CannedText } from './text/canned-text.ts'
import { Tokenizer } from './text/tokenizer.ts'

const text = new CannedText(new Tokenizer())
const never = new AbortController().signal

function setUp({ capacity = 1600, rate = Number.POSITIVE_INFINITY } = {}) {
  const reports: CacheReport[] = []
  const cache = new RadixCache(capacity, 16, 'page')
  const onReports = (more: CacheReport[]): void => void reports.push(...more)
  const engine = new EngineCore({ cache, text, prefillTokensPerSecond: rate, onReports })
  const start = (requestId: string, promptTokens: number, outputTokens = 1, signal = never, seed = 1) => {
    const prompt = Uint32Array.from({ length: promptTokens }, (_, index) => seed * 10_000 + index)
    return readAll(engine.generate({ requestId, salt: '', prompt, outputTokens }, signal))
  }
  return { cache, engine, reports, start }
}

async function readAll(tokens: AsyncIterable<OutputToken>): Promise<OutputToken[]> {
  const read: OutputToken[] = []
  for await (const token of tokens) read.push(token)
  return read
}

/** Fails unless the cache is free of running requests 50 ms after `abort`. */
async function expectFreed({ engine }: { engine: EngineCore }, abort: () => void): Promise<void> {
  abort()
  await delay(50)
  expect(engine.clearCache()).toBe(true)
}

describe('prefillSeconds', () => {
  it('is linear for short prompts and twice that at 32,768 tokens', () => {
    expect(prefillSeconds(100, 0, 1000)).toBeCloseTo(0.1, 3)
    expect(prefillSeconds(32_768, 0, 32_768)).toBeCloseTo(2)
    expect(prefillSeconds(32_768, 32_767, 32_768)).toBeLessThan(0.001)
    expect(prefillSeconds(32_768, 16_384, 32_768)).toBeCloseTo(0.5 + 0.75)
  })

  it('falls with what is reused from another position', () => {
    expect(prefillSeconds(32_768, 16_384, 32_768, 8192)).toBeCloseTo((0.5 + 0.75) / 2)
    expect(prefillSeconds(1000, 0, 1000, 850)).toBeCloseTo(prefillSeconds(1000, 0, 1000) * 0.15)
  })
})

describe('EngineCore', () => {
  it('says how much of the prompt was cached and yields the output token by token', async () => {
    const { start } = setUp()
    const first = await start('a', 100, 3)
    expect(first.map((token) => token.index)).toEqual([0, 1, 2])
    expect(first.map((token) => token.text).join('')).toBe('This is canned')
    expect(first[0]?.cachedTokens).toBe(0)
    expect((await start('b', 100))[0]?.cachedTokens).toBe(96)
  })

  it('prefills one prompt after the other, so that the second finds what the first computed', async () => {
    const { start } = setUp({ rate: 10_000 })
    const started = performance.now()
    const [first, second] = await Promise.all([start('a', 1000), start('b', 1000)])
    expect(performance.now() - started).toBeGreaterThan(100)
    expect(first?.[0]?.cachedTokens).toBe(0)
    expect(second?.[0]?.cachedTokens).toBe(992)
  })

  it('decodes 200 tokens a second, several requests at once', async () => {
    const { start } = setUp()
    const started = performance.now()
    const ended: string[] = []
    await Promise.all([
      start('a', 20, 41).then(() => ended.push('a')),
      start('b', 20, 5, never, 2).then(() => ended.push('b')),
    ])
    expect(performance.now() - started).toBeGreaterThan(199)
    // a shorter request that came later does not wait for the other to end
    expect(ended).toEqual(['b', 'a'])
  })

  it('lets a prompt wait while running requests hold the space', async () => {
    const { start } = setUp({ capacity: 160 })
    const finished: string[] = []
    await Promise.all([
      start('a', 100, 21).then(() => finished.push('a')),
      start('b', 100, 1, never, 2).then(() => finished.push('b')),
    ])
    expect(finished).toEqual(['a', 'b'])
  })

  it('reports evictions when it makes room and stores when a prefill ends', async () => {
    const { start, reports } = setUp({ capacity: 160 })
    await start('a', 96)
    await start('b', 112, 1, never, 2)
    expect(reports).toEqual([
      { type: 'stored', request_id: 'a', cached_tokens: 96 },
      { type: 'evicted', request_id: 'a', cached_tokens: 32, tier: 'gpu' },
      { type: 'stored', request_id: 'b', cached_tokens: 112 },
    ])
  })

  it('stops a prefill, and keeps nothing of it, when the client leaves', async () => {
    const all = setUp({ rate: 1 })
    const client = new AbortController()
    const reading = expect(all.start('a', 100, 1, client.signal)).rejects.toThrow()
    await delay(5)
    expect(all.engine.clearCache()).toBe(false)
    await expectFreed(all, () => client.abort())
    await reading
    expect(all.cache.requests()).toEqual([])
    expect(all.reports).toEqual([{ type: 'cleared' }])
  })

  it('lets the next prompt in when the one in front of it is broken off', async () => {
    // the first would take minutes
    const all = setUp({ rate: 10 })
    const client = new AbortController()
    const prefilling = expect(all.start('slow', 1500, 1, client.signal)).rejects.toThrow()
    const queued = expect(all.start('queued', 1500, 1, client.signal, 2)).rejects.toThrow()
    const next = all.start('next', 10, 1, never, 3)
    client.abort()
    await next
    await Promise.all([prefilling, queued])
  })

  it('stops waiting for space when the client leaves', async () => {
    const all = setUp({ capacity: 160 })
    const client = new AbortController()
    const running = all.start('a', 100, 11)
    const waiting = expect(all.start('b', 100, 1, client.signal, 2)).rejects.toThrow()
    await delay(5)
    client.abort()
    await waiting
    await running
    expect(all.engine.clearCache()).toBe(true)
  })

  it('stops decoding and keeps what it computed when the client leaves', async () => {
    const all = setUp()
    const client = new AbortController()
    const prompt = Uint32Array.from({ length: 40 }, (_, index) => index)
    const request = { requestId: 'a', salt: '', prompt, outputTokens: 1000 }
    const tokens = all.engine.generate(request, client.signal)
    for (let index = 0; index < 10; index++) await tokens.next()
    client.abort()
    await expect(tokens.next()).rejects.toThrow()
    expect(all.cache.requests()).toEqual([{ request_id: 'a', cached_tokens: 48 }])
    expect(all.engine.clearCache()).toBe(true)
  })

  it('frees the space of a reader that stops reading', async () => {
    const all = setUp()
    const prompt = new Uint32Array(40)
    for await (const _token of all.engine.generate({ requestId: 'a', salt: '', prompt, outputTokens: 9 }, never)) break
    expect(all.engine.clearCache()).toBe(true)
  })
})
