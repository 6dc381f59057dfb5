import fc from 'fast-check'
import { expect, test } from 'vitest'
import { historiesOf, run } from '#emulator/cache/histories.fixture.ts'
import type { SimulatedCache } from '#index/tree-cache/simulated-cache.ts'
import { createCache } from './create-cache.ts'

const create = (eviction: 'lru' | 'hotprefix+' | 'guarded', capacityTokens: number): SimulatedCache =>
  createCache({ capacityTokens, pageTokens: 4, eviction })

const play = (cache: SimulatedCache, prompts: readonly Uint32Array[]): number[] =>
  prompts.map((tokens, number) => cache.serve(number, '', tokens))
const sum = (found: readonly number[]): number => found.reduce((all, one) => all + one, 0)

/** Every fourth prompt has a shared prefix and its own question; all others occur once. */
const mixed = Array.from({ length: 400 }, (_, i) =>
  Uint32Array.from(i % 4 === 0 ? [...run(1, 200), ...run(1_000 + i, 8)] : run(2_000 + i, 200)),
)

test('what finds more comes to lead', () => {
  const [lru, learned, guarded] = (['lru', 'hotprefix+', 'guarded'] as const).map((name) =>
    play(create(name, 600), mixed),
  )
  expect(sum(lru!)).toBe(0)
  expect(sum(guarded!.slice(200))).toBe(sum(learned!.slice(200)))
  expect(sum(guarded!.slice(200))).toBeGreaterThan(0)
})

test('the least recently used goes until something else has found more by a sixteenth of the cache', () => {
  fc.assert(
    fc.property(historiesOf(60), fc.constantFrom(40, 60, 120), (history, capacity) => {
      const [lru, guarded] = [create('lru', capacity), create('guarded', capacity)]
      const learned = create('hotprefix+', capacity)
      let regret = 0
      for (const [number, { salt, tokens }] of history.entries()) {
        const [own, other] = [lru.serve(number, salt, tokens), learned.serve(number, salt, tokens)]
        regret = Math.max(0, regret + other - own)
        if (regret > capacity / 16) return
        expect(guarded.serve(number, salt, tokens)).toBe(own)
      }
    }),
    { numRuns: 200 },
  )
})
