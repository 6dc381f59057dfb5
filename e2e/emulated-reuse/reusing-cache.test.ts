import { beforeEach, describe, expect, it } from 'vitest'
import { describePrefixCache } from '#emulator/cache/prefix-cache.contract.ts'
import type { CacheSequence } from '#emulator/cache/prefix-cache.ts'
import { RadixCache } from '#emulator/cache/radix-cache.ts'
import { ReusingCache } from './reusing-cache.ts'

const run = (seed: number, count: number): number[] => Array.from({ length: count }, (_, i) => seed * 10_000 + i)

describePrefixCache(
  'ReusingCache, where all is computed again,',
  (capacityTokens) =>
    new ReusingCache(new RadixCache(capacityTokens, 4, 'page'), {
      ratio: 1,
      min_ratio: 0,
      max_ratio: 1,
      hostTokens: 1000,
    }),
)

describe('ReusingCache', () => {
  let cache: ReusingCache
  beforeEach(() => {
    cache = new ReusingCache(new RadixCache(100_000, 16, 'page'), {
      ratio: 0.25,
      min_ratio: 0,
      max_ratio: 1,
      hostTokens: 10_000,
    })
  })

  function begin(id: string, prompt: number[], more: { salt?: string; reuse?: 'off' | number } = {}): CacheSequence {
    const tokens = Uint32Array.from(prompt)
    const { salt = '', ...wish } = more
    const sequence = cache.open({ requestId: id, salt, tokens, promptTokens: tokens.length, wish })
    sequence.acquire()
    return sequence
  }

  function serve(...args: Parameters<typeof begin>): CacheSequence {
    const sequence = begin(...args)
    sequence.computed(args[1].length)
    sequence.release(args[1].length)
    return sequence
  }

  it('takes the exact prefix first, then what was seen elsewhere, of which a share is computed again', () => {
    expect(serve('a', [...run(1, 64), ...run(2, 100)])).toMatchObject({ cachedTokens: 0, reused: { kept: 0 } })
    const sequence = serve('b', [...run(1, 64), ...run(3, 50), ...run(2, 100), ...run(4, 20)])
    expect(sequence.cachedTokens).toBe(64)
    expect(sequence.reused).toEqual({ kept: 75, recomputed: 25 })
  })

  it('always computes the last prompt token', () => {
    serve('a', run(1, 100))
    expect(serve('b', [...run(2, 16), ...run(1, 100)]).reused).toEqual({ kept: 74, recomputed: 25 })
  })

  it('leaves nothing exact behind the first reused token', () => {
    serve('a', run(1, 100))
    const prompt = [...run(2, 40), ...run(1, 100), ...run(3, 40)]
    serve('b', prompt)
    expect(cache.match(Uint32Array.from(prompt), '')).toBe(32)
    expect(serve('c', prompt)).toMatchObject({ cachedTokens: 32 })
  })

  it('reuses as much as a request wishes: nothing, or with another share computed again', () => {
    serve('a', run(1, 100))
    const prompt = [...run(2, 40), ...run(1, 100), ...run(3, 40)]
    expect(serve('ratio', [...run(5, 9), ...prompt], { reuse: 0 }).reused).toEqual({ kept: 140 - 40, recomputed: 0 })
    expect(serve('off', prompt, { reuse: 'off' }).reused).toEqual({ kept: 0, recomputed: 0 })
    expect(cache.match(Uint32Array.from(prompt), '')).toBe(176)
  })

  it('grants no share outside its bounds', () => {
    cache = new ReusingCache(new RadixCache(100_000, 16, 'page'), {
      ratio: 0.25,
      min_ratio: 0.1,
      max_ratio: 0.5,
      hostTokens: 10_000,
    })
    serve('a', run(1, 100))
    expect(serve('least', [...run(2, 40), ...run(1, 100), 1], { reuse: 0 }).reused).toEqual({
      kept: 90,
      recomputed: 10,
    })
    expect(serve('most', [...run(3, 40), ...run(1, 100), 1], { reuse: 1 }).reused).toEqual({ kept: 50, recomputed: 50 })
  })

  it('is exact where all is computed again', () => {
    serve('a', run(1, 100))
    expect(serve('b', [...run(2, 40), ...run(1, 100)], { reuse: 1 }).reused).toEqual({ kept: 0, recomputed: 0 })
    expect(cache.match(Uint32Array.from([...run(2, 40), ...run(1, 100)]), '')).toBe(128)
  })

  it('never shares between salts', () => {
    serve('a', run(1, 100), { salt: 'red' })
    expect(serve('b', [...run(2, 16), ...run(1, 100)], { salt: 'blue' }).reused?.kept).toBe(0)
    expect(serve('c', [...run(2, 16), ...run(1, 100)], { salt: 'red' }).reused?.kept).toBeGreaterThan(0)
  })

  it('tells in its reports what is exact and what was reused, also of a request that leaves nothing exact', () => {
    serve('a', run(1, 100))
    cache.takeReports()
    serve('b', [...run(2, 40), ...run(1, 100)])
    serve('c', [...run(3, 10), ...run(1, 100)])
    expect(cache.takeReports()).toEqual([
      { type: 'stored', request_id: 'b', cached_tokens: 32, reused_tokens: 74, recomputed_tokens: 25 },
      { type: 'stored', request_id: 'c', cached_tokens: 0, reused_tokens: 74, recomputed_tokens: 25 },
    ])
  })

  it('keeps what it answered, too, and nothing of a prefill that was broken off', () => {
    begin('a', run(1, 100)).release(0)
    expect(serve('b', [...run(2, 16), ...run(1, 100)]).reused?.kept).toBe(0)
    const tokens = Uint32Array.from([...run(5, 20), ...run(6, 60)])
    const sequence = cache.open({ requestId: 'c', salt: '', tokens, promptTokens: 20 })
    sequence.acquire()
    sequence.computed(20)
    sequence.release(80)
    expect(serve('d', [...run(7, 16), ...run(6, 60), 1]).reused).toEqual({ kept: 45, recomputed: 15 })
  })

  it('forgets all when it is cleared', () => {
    serve('a', run(1, 100))
    expect(cache.clear()).toBe(true)
    expect(serve('b', [...run(2, 16), ...run(1, 100)]).reused?.kept).toBe(0)
  })
})
