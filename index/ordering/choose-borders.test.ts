import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BorderPlace, chooseBorders } from './choose-borders.ts'

const places = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 20 })), { maxLength: 9 })
  .map((steps) => {
    let [end, demand] = [0, 1 + steps.reduce((sum, [, lost]) => sum + lost, 0)]
    return steps.map(([tokens, lost]) => {
      end += tokens
      demand -= lost
      return { end, demand }
    })
  })

/** Tokens saved: each request finds the last of the chosen places within what it shares. */
function savingOf(all: readonly BorderPlace[], chosen: readonly number[]): number {
  return chosen.reduce((sum, at, i) => {
    const next = chosen[i + 1]
    return sum + all[at]!.end * (all[at]!.demand - (next === undefined ? 0 : all[next]!.demand))
  }, 0)
}

test('no more than asked for, in order, and no two closer than the gap, nor one to the start', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 500 }), (all, most, gap) => {
      const chosen = chooseBorders(all, most, gap)
      expect(chosen.length).toBeLessThanOrEqual(most)
      chosen.forEach((at, i) => {
        expect(all[at]!.end - (i === 0 ? 0 : all[chosen[i - 1]!]!.end)).toBeGreaterThanOrEqual(gap)
      })
    }),
  )
})

test('one border is the best there is, and each further one saves more', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: 1, max: 300 }), (all, gap) => {
      const far = all.flatMap(({ end }, at) => (end >= gap ? [at] : []))
      const best = Math.max(0, ...far.map((at) => savingOf(all, [at])))
      expect(savingOf(all, chooseBorders(all, 1, gap))).toBe(best)
      const savings = [1, 2, 3, 4].map((most) => savingOf(all, chooseBorders(all, most, gap)))
      expect(savings).toEqual(savings.toSorted((a, b) => a - b))
    }),
  )
})

test('demand × tokens decides: many that share little, or few that share much', () => {
  const all = [
    { end: 1000, demand: 10 },
    { end: 2000, demand: 9 },
    { end: 3000, demand: 2 },
    { end: 9000, demand: 1 },
  ]
  expect(chooseBorders(all, 1, 16)).toEqual([1])
  expect(chooseBorders(all, 2, 16)).toEqual([1, 3])
  expect(chooseBorders(all, 4, 16)).toEqual([0, 1, 2, 3])
  expect(chooseBorders(all, 4, 2000)).toEqual([1, 3])
  expect(chooseBorders(all, 4, 10_000)).toEqual([])
})
