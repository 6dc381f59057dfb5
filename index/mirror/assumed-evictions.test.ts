import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { RequestId } from '../context-block.ts'
import { AssumedEvictions } from './believed-cache.ts'
import type { CacheMirror } from './cache-mirror.ts'
import { createMirror, promptOf, sendAll } from './sent-prompts.fixture.ts'

let mirror: CacheMirror
let cuts: string[]
let evictions: AssumedEvictions

function start(): void {
  mirror = createMirror()
  cuts = []
  evictions = new AssumedEvictions(mirror, (cut) => {
    cuts.push(`${cut.request} ${cut.cachedTokens}`)
    mirror.apply(cut)
  })
}

beforeEach(start)

const predicted = (...blocks: string[]): number => mirror.predictCachedTokens(promptOf(blocks))

test('nothing is cut while all of it fits', () => {
  sendAll(mirror, ['a', 'b'], ['c', 'd'])
  // both share the system text
  expect(mirror.heldTokens).toBe(125)
  evictions.fit(125)
  expect(cuts).toEqual([])
})

test('what was sent longest ago goes first, from its tail', () => {
  sendAll(mirror, ['a', 'b'], ['c', 'd'])
  evictions.fit(100)
  expect(cuts).toEqual(['ab 50'])
  expect([predicted('a', 'b'), predicted('c', 'd')]).toEqual([50, 75])
  evictions.fit(70)
  // the rest of the first request, then the next one: its 75 tokens are the system text, c and d
  expect(cuts.slice(1)).toEqual(['ab 0', 'cd 70'])
  expect([predicted('a'), predicted('c', 'd')]).toEqual([25, 50])
})

test('an engine that evicts leaves in whole loses all that the oldest held by itself', () => {
  sendAll(mirror, ['a', 'b'], ['a', 'c'], ['d'])
  evictions.fit(124, true)
  expect(cuts).toEqual(['ab 0'])
  expect([predicted('a', 'b'), predicted('a', 'c'), predicted('d')]).toEqual([50, 75, 50])
})

test('a prefix that was found again by a later prompt is held as long as that', () => {
  sendAll(mirror, ['a', 'b'], ['c'], ['a', 'd'])
  evictions.fit(100)
  expect(predicted('a', 'd')).toBe(75)
  expect(predicted('a', 'b')).toBe(50)
  expect(predicted('c')).toBe(50)
  evictions.fit(75)
  expect([predicted('a', 'd'), predicted('c')]).toEqual([75, 25])
})

test('what stands behind the blocks takes room too', () => {
  mirror.apply({ type: 'sent', request: 'a' as RequestId, prompt: promptOf(['a'], 400) })
  expect(mirror.heldTokens).toBe(150)
  evictions.fit(100)
  expect([mirror.heldTokens, predicted('a')]).toEqual([100, 50])
})

test('a request that was cut is stored anew by what the engine says', () => {
  sendAll(mirror, ['a', 'b'], ['c', 'd'])
  evictions.fit(75)
  expect(predicted('a', 'b')).toBe(25)
  mirror.apply({ type: 'stored', request: 'ab' as RequestId, cachedTokens: 75 })
  expect(predicted('a', 'b')).toBe(75)
})

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ blocks: fc.array(fc.constantFrom(...'abcdefgh'), { maxLength: 5 }), tail: fc.nat(300) }),
  },
  { weight: 2, arbitrary: fc.record({ capacity: fc.nat(600) }) },
  { weight: 1, arbitrary: fc.record({ reported: fc.nat(40), cachedTokens: fc.nat(200) }) },
)

test('whatever is sent, reported and cut: what is believed fits, and what was used last is believed longest', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      start()
      let sent = 0
      for (const one of steps) {
        if ('blocks' in one) {
          const prompt = promptOf([...new Set(one.blocks)], one.tail)
          mirror.apply({ type: 'sent', request: `${sent}` as RequestId, prompt })
          sent += 1
        } else if ('capacity' in one) {
          const before = mirror.heldTokens
          evictions.fit(one.capacity)
          expect(mirror.heldTokens).toBeLessThanOrEqual(Math.max(one.capacity, 0))
          if (before <= one.capacity) expect(mirror.heldTokens).toBe(before)
        } else {
          mirror.apply({ type: 'stored', request: `${one.reported}` as RequestId, cachedTokens: one.cachedTokens })
        }
      }
    }),
  )
})

test('of prompts that share nothing at most one is believed in part, and all behind it whole', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(400), { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(3000), { maxLength: 8 }),
      (tails, capacities) => {
        start()
        tails.forEach((tail, i) => {
          mirror.apply({
            type: 'sent',
            request: `${i}` as RequestId,
            prompt: { ...promptOf([`${i}`], tail), prefixes: [], ends: [], contexts: [] },
          })
        })
        for (const capacity of capacities.sort((a, b) => b - a)) {
          evictions.fit(capacity)
          const shares = tails.map((tail, i) => (mirror.heldOf(`${i}` as RequestId)?.cachedLength ?? 0) / (200 + tail))
          const held = shares.slice(shares.findIndex((share) => share > 0))
          if (shares.some((share) => share > 0)) expect(held.slice(1)).toEqual(held.slice(1).map(() => 1))
        }
      },
    ),
  )
})
