import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ranks, Wager } from './relevance.ts'
import { createDraw } from './sightings.fixture.ts'

/** Wealth after one bet on ranks that lie from `low` to `high`. */
function wealthOf(low: number, high: number): number {
  const wager = new Wager()
  wager.bet(low, high)
  return wager.wealth
}

test('a bet is fair if all ranks are equally likely, also with ties', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: ranks - 1 }), { maxLength: 3 }), (cuts) => {
      const ends = [...new Set([...cuts, ranks - 1])].toSorted((a, b) => a - b)
      let from = 0
      let expected = 0
      for (const end of ends) {
        expected += ((end - from + 1) / ranks) * wealthOf(from, end)
        from = end + 1
      }
      expect(expected).toBeCloseTo(1, 9)
    }),
  )
})

test('evidence of 1,000 is seldom had by chance, however long one looks', () => {
  const draw = createDraw(1)
  let won = 0
  for (let run = 0; run < 3_000; run++) {
    const wager = new Wager()
    let best = 0
    for (let i = 0; i < 400; i++) {
      const rank = draw(ranks)
      wager.bet(rank, rank)
      best = Math.max(best, wager.wealth)
    }
    if (best >= 1_000) won++
  }
  expect(won).toBeLessThanOrEqual(9)
})

test('lists that fit best four times in five are believed within 25, and no longer believed 150 after they stop', () => {
  const draw = createDraw(2)
  const wager = new Wager()
  for (let i = 0; i < 25; i++) {
    const rank = draw(5) < 4 ? ranks - 1 : draw(ranks)
    wager.bet(rank, rank)
  }
  expect(wager.wealth).toBeGreaterThan(1_000)
  for (let i = 0; i < 150; i++) {
    const rank = draw(ranks)
    wager.bet(rank, rank)
  }
  expect(wager.wealth).toBeLessThan(10)
})
