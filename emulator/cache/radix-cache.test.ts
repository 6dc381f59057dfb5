import { describe, expect, it } from 'vitest'
import { describePrefixCache } from './prefix-cache.contract.ts'
import { RadixCache } from './radix-cache.ts'

describePrefixCache('RadixCache', (capacityTokens) => new RadixCache(capacityTokens, 4))

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
    const cache = new RadixCache(100, 1)
    serve(cache, 'a', prompt(1, 10))
    expect(serve(cache, 'b', prompt(1, 10))).toBe(9)
    expect(serve(cache, 'c', prompt(1, 12))).toBe(10)
  })

  it('evicts whole leaves', () => {
    const cache = new RadixCache(24, 4)
    serve(cache, 'a', prompt(1, 20))
    serve(cache, 'b', prompt(2, 8))
    expect(cache.match(prompt(1, 20), '')).toBe(0)
    expect(cache.usedTokens).toBe(8)
  })

  it('keeps no second copy of what two requests computed at the same time', () => {
    const cache = new RadixCache(100, 4)
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
