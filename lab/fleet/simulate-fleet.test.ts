import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Random } from '../streams/random.ts'
import { type FleetOptions, type FleetRequest, simulateFleet } from './simulate-fleet.ts'

const machine: Omit<FleetOptions, 'routing' | 'store'> = {
  replicas: 4,
  tokensHeld: 3_000,
  prefillTokensPerSecond: 10_000,
  ratio: 0.15,
  bytesPerToken: 100_000,
  bytesPerSecond: 10e9,
  arrivals: 5,
}
const sharings = [
  { routing: 'in turn', store: false },
  { routing: 'by content', store: false },
  { routing: 'in turn', store: true },
  { routing: 'by content', store: true },
] as const

/** Two of `count` documents of 1,000 tokens in each request. */
function draw(requests: number, count: number): FleetRequest[] {
  const random = new Random(3)
  const ids = Array.from({ length: count }, (_, i) => String(i))
  return Array.from({ length: requests }, () => ({
    documents: random.sample(ids, 2).map((id) => ({ id, tokens: 1_000 })),
    ownTokens: 100,
  }))
}

test('every token of a prompt is computed, held, or fetched', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.integer({ min: 2, max: 30 }), fc.constantFrom(...sharings), (count, size, sharing) => {
      const { prompt, cold, own, fetched, seconds } = simulateFleet(
        draw(count, size),
        { ...machine, ...sharing },
        new Random(1),
      )
      expect(cold + own + fetched).toBe(prompt)
      expect(prompt).toBe(2_100 * count)
      expect(seconds).toHaveLength(count)
      if (!sharing.store) expect(fetched).toBe(0)
    }),
  )
})

test('nothing is fetched through a link that takes longer than to compute', () => {
  const slow = { ...machine, routing: 'in turn', store: true, bytesPerSecond: 1e9 } as const
  expect(simulateFleet(draw(500, 20), slow, new Random(1)).fetched).toBe(0)
})

test('routing and a store each compute less than replicas that share nothing, and both together least', () => {
  const [nothing, routing, store, both] = sharings.map(
    (sharing) => simulateFleet(draw(2_000, 20), { ...machine, ...sharing }, new Random(1)).cold,
  )
  expect(routing).toBeLessThan(nothing!)
  expect(store).toBeLessThan(nothing!)
  expect(both).toBeLessThan(Math.min(routing!, store!))
})

test('after restarts a store gives back what all replicas held', () => {
  const requests = draw(2_000, 10)
  const restarts = [1_000, 1_100] as const
  const coldOf = (store: boolean): number =>
    simulateFleet(requests, { ...machine, routing: 'by content', store, restarts }, new Random(1), 1_000).cold
  expect(coldOf(true)).toBeLessThan(coldOf(false) - 5_000)
})
