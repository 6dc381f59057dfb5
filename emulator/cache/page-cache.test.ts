import { describe, expect, it } from 'vitest'
import { PageCache } from './page-cache.ts'
import { describePrefixCache } from './prefix-cache.contract.ts'

describePrefixCache('PageCache', (capacityTokens) => new PageCache(capacityTokens, 4))

const prompt = (seed: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => seed * 1000 + i)

function serve(cache: PageCache, requestId: string, tokens: Uint32Array): void {
  const sequence = cache.open({ requestId, salt: '', tokens, promptTokens: tokens.length })
  sequence.acquire()
  sequence.computed(tokens.length)
  sequence.release(tokens.length)
}

describe('PageCache', () => {
  it('evicts page by page, only as many as it needs', () => {
    const cache = new PageCache(24, 4)
    serve(cache, 'a', prompt(1, 20))
    serve(cache, 'b', prompt(2, 8))
    expect(cache.match(prompt(1, 20), '')).toBe(16)
    serve(cache, 'c', prompt(3, 4))
    expect(cache.match(prompt(1, 20), '')).toBe(12)
    expect(cache.match(prompt(2, 8), '')).toBe(8)
  })

  it('keeps a prefix cached while one of two copies of its page is left', () => {
    const cache = new PageCache(16, 4)
    serve(cache, 'a', prompt(1, 8))
    serve(cache, 'b', prompt(1, 8))
    expect(cache.usedTokens).toBe(12)
    serve(cache, 'c', prompt(3, 8))
    expect(cache.match(prompt(1, 8), '')).toBe(8)
    expect(cache.usedTokens).toBe(16)
  })
})
