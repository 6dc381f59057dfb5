import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EngineCache } from './engine-cache.fixture.ts'
import { historiesOf } from './histories.fixture.ts'
import { PageCache } from './page-cache.fixture.ts'
import { describePrefixCache } from './prefix-cache.contract.ts'
import { RadixCache } from './radix-cache.ts'

describePrefixCache('RadixCache by leaves', (capacityTokens) => new RadixCache(capacityTokens, 4, 'leaf'))
describePrefixCache('RadixCache by pages', (capacityTokens) => new RadixCache(capacityTokens, 4, 'page'))
describePrefixCache('PageCache', (capacityTokens) => new PageCache(capacityTokens, 4))

const prompt = (seed: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => seed * 1000 + i)

function serve(cache: RadixCache, requestId: string, tokens: Uint32Array): number {
  const sequence = cache.open({ requestId, salt: '', tokens, promptTokens: tokens.length })
  sequence.acquire()
  sequence.computed(tokens.length)
  sequence.release(tokens.length)
  return sequence.cachedTokens
}

describe('RadixCache', () => {
  it('caches to the token with pages of one', () => {
    const cache = new RadixCache(100, 1, 'leaf')
    serve(cache, 'a', prompt(1, 10))
    expect(serve(cache, 'b', prompt(1, 10))).toBe(9)
    expect(serve(cache, 'c', prompt(1, 12))).toBe(10)
  })

  it('evicts page by page, only as many as it needs', () => {
    const cache = new RadixCache(24, 4, 'page')
    serve(cache, 'a', prompt(1, 20))
    serve(cache, 'b', prompt(2, 8))
    expect(cache.match(prompt(1, 20), '')).toBe(16)
    serve(cache, 'c', prompt(3, 4))
    expect(cache.match(prompt(1, 20), '')).toBe(12)
    expect(cache.match(prompt(2, 8), '')).toBe(8)
  })

  it.each([1, 4])('finds and evicts, with pages of %i tokens, what a chain of hashed pages does', (pageTokens) => {
    const capacities = fc.constantFrom(20, 33, 50, 90, Number.POSITIVE_INFINITY)
    fc.assert(
      fc.property(historiesOf(40), capacities, (history, capacity) => {
        const caches = [new RadixCache(capacity, pageTokens, 'page'), new PageCache(capacity, pageTokens)]
        const [radix, paged] = caches.map((cache) => new EngineCache(cache))
        for (const [number, { salt, tokens }] of history.entries()) {
          if (Math.ceil(tokens.length / pageTokens) * pageTokens > caches[0]!.capacityTokens) continue
          expect(radix!.serve(number, salt, tokens)).toBe(paged!.serve(number, salt, tokens))
          const [ours, theirs] = [radix!, paged!].map((cache) => new Map([...cache.takeChanges()].sort()))
          expect(ours).toEqual(theirs)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('evicts whole leaves', () => {
    const cache = new RadixCache(24, 4, 'leaf')
    serve(cache, 'a', prompt(1, 20))
    serve(cache, 'b', prompt(2, 8))
    expect(cache.match(prompt(1, 20), '')).toBe(0)
    expect(cache.usedTokens).toBe(8)
  })

  it('keeps no second copy of what two requests computed at the same time', () => {
    const cache = new RadixCache(100, 4, 'leaf')
    const open = (requestId: string) => {
      const tokens = prompt(1, 12)
      const sequence = cache.open({ requestId, salt: '', tokens, promptTokens: 12 })
      sequence.acquire()
      return sequence
    }
    const [first, second] = [open('a'), open('b')]
    expect(cache.usedTokens).toBe(24)
    first.computed(12)
    second.computed(12)
    expect(cache.usedTokens).toBe(12)
    first.release(12)
    second.release(12)
    expect(cache.usedTokens).toBe(12)
  })
})
