import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReplicaCandidate, selectionDefaults, selectReplica } from './select-replica.ts'

const idle: ReplicaCandidate = {
  replica: 'a',
  promptTokens: 8_000,
  predictedCachedTokens: 0,
  inFlightTokens: 0,
  inFlight: 0,
  processedTokens: 0,
}

const choose = (candidates: Partial<ReplicaCandidate>[], turn = 0): string | undefined => {
  const all = candidates.map((candidate, i) => ({ ...idle, replica: 'abcdef'[i]!, ...candidate }))
  return all[selectReplica(all, { turn })]?.replica
}

test('the replica that has most of the prompt cached is chosen, until too much is ahead of it there', () => {
  expect(choose([{}, { predictedCachedTokens: 6_000 }])).toBe('b')
  expect(choose([{}, { predictedCachedTokens: 6_000, inFlightTokens: 11_900 }])).toBe('b')
  expect(choose([{}, { predictedCachedTokens: 6_000, inFlightTokens: 12_100 }])).toBe('a')
})

test('a request that is being decoded counts a little', () => {
  expect(choose([{ inFlight: 10 }, { inFlightTokens: 500, inFlight: 1 }])).toBe('b')
})

test('a block goes to the replica that processed it before, but only among near-equals', () => {
  const { loadWeight, processedBound } = selectionDefaults
  expect(choose([{}, { processedTokens: 3_000 }])).toBe('b')
  expect(choose([{}, { processedTokens: 3_000, inFlightTokens: 590 }])).toBe('b')
  expect(choose([{}, { processedTokens: 3_000, inFlightTokens: 610 }])).toBe('a')
  expect(choose([{}, { processedTokens: 1_000_000, inFlightTokens: processedBound / loadWeight + 1 }])).toBe('a')
  expect(choose([{ predictedCachedTokens: processedBound + 1 }, { processedTokens: 1_000_000 }])).toBe('a')
})

test('what a replica takes over from another position it does not compute, and is worth no bonus besides', () => {
  expect(
    choose([{ predictedCachedTokens: 5_000 }, { predictedCachedTokens: 1_000, predictedReusedTokens: 4_001 }]),
  ).toBe('b')
  expect(
    choose([{ predictedCachedTokens: 5_000 }, { predictedCachedTokens: 1_000, predictedReusedTokens: 3_999 }]),
  ).toBe('a')
  expect(choose([{ predictedCachedTokens: 1 }, { predictedReusedTokens: 0, processedTokens: 9_000 }])).toBe('a')
})

test('a replica that is far busier than another is not chosen, even for a prompt it has cached whole', () => {
  const promptTokens = 200_000
  const cached = { promptTokens, predictedCachedTokens: promptTokens }
  const { imbalance } = selectionDefaults
  expect(choose([{ promptTokens }, { ...cached, inFlightTokens: imbalance }])).toBe('b')
  expect(choose([{ promptTokens }, { ...cached, inFlightTokens: imbalance + 1 }])).toBe('a')
})

test('of equals the one with the fewest requests is chosen, then each in turn', () => {
  expect(choose([{ inFlight: 1 }, { inFlightTokens: 64 }])).toBe('b')
  expect([0, 1, 2, 3].map((turn) => choose([{}, {}, {}], turn))).toEqual(['a', 'b', 'c', 'a'])
  expect(choose([{}, { inFlightTokens: 1 }, {}], 1)).toBe('c')
})

test('without candidates none is chosen', () => {
  expect(selectReplica([])).toBe(-1)
})

const tokens = fc.integer({ min: 0, max: 100_000 })
const candidates = fc
  .tuple(
    tokens,
    fc.array(fc.tuple(tokens, tokens, fc.nat(300), tokens), { minLength: 1, maxLength: 6 }),
    fc.constantFrom(1, 100, 10_000),
  )
  .map(([promptTokens, all, step]) =>
    // rounding to steps makes ties likely
    all.map(
      ([cached, load, inFlight, processed], i): ReplicaCandidate => ({
        replica: `replica ${i}`,
        promptTokens,
        predictedCachedTokens: Math.min(promptTokens, cached - (cached % step)),
        inFlightTokens: load - (load % step),
        inFlight: step === 1 ? inFlight : 0,
        processedTokens: processed - (processed % step),
      }),
    ),
  )
const options = fc.record({ turn: fc.nat(10), imbalance: fc.constantFrom(0, 1_000, 65_536) })

test('the order of the candidates plays no part', () => {
  fc.assert(
    fc.property(candidates, options, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (all, chosenBy, keys) => {
      const shuffled = all.toSorted((a, b) => keys[all.indexOf(a)]! - keys[all.indexOf(b)]!)
      expect(shuffled[selectReplica(shuffled, chosenBy)]).toBe(all[selectReplica(all, chosenBy)])
    }),
  )
})

test('who is chosen stays so with less load, fewer requests, more cached or more processed', () => {
  fc.assert(
    fc.property(candidates, options, tokens, (all, chosenBy, change) => {
      const place = selectReplica(all, chosenBy)
      const chosen = all[place]!
      const better = {
        predictedCachedTokens: chosen.predictedCachedTokens + change,
        inFlightTokens: Math.max(0, chosen.inFlightTokens - change),
        inFlight: Math.max(0, chosen.inFlight - change),
        processedTokens: chosen.processedTokens + change,
      }
      for (const [name, value] of Object.entries(better)) {
        // the turn decides between equals, and an improvement must not lose it
        const improved = all.with(place, { ...chosen, [name]: value })
        expect({ name, place: selectReplica(improved, chosenBy) }).toEqual({ name, place })
      }
    }),
  )
})

test('who is not chosen is not chosen for having more load, more requests, less cached or less processed', () => {
  fc.assert(
    fc.property(candidates, options, tokens, fc.nat(5), (all, chosenBy, change, at) => {
      const place = at % all.length
      const other = all[place]!
      if (selectReplica(all, chosenBy) === place) return
      const worse = {
        predictedCachedTokens: Math.max(0, other.predictedCachedTokens - change),
        inFlightTokens: other.inFlightTokens + change,
        inFlight: other.inFlight + change,
        processedTokens: Math.max(0, other.processedTokens - change),
      }
      for (const [name, value] of Object.entries(worse)) {
        const chosen = selectReplica(all.with(place, { ...other, [name]: value }), chosenBy)
        expect({ name, isChosen: chosen === place }).toEqual({ name, isChosen: false })
      }
    }),
  )
})

test('what was processed before never outweighs more than its bound', () => {
  fc.assert(
    fc.property(candidates, options, (all, chosenBy) => {
      const { loadWeight, requestTokens, processedBound } = selectionDefaults
      const loads = all.map(({ inFlightTokens, inFlight }) => inFlightTokens + requestTokens * inFlight)
      const cost = all.map((one, i) => one.promptTokens - one.predictedCachedTokens + loadWeight * loads[i]!)
      const allowed = all.map((_, i) => loads[i]! - Math.min(...loads) <= chosenBy.imbalance)
      const chosen = selectReplica(all, chosenBy)
      expect(allowed[chosen]).toBe(true)
      const least = Math.min(...cost.filter((_, i) => allowed[i]))
      expect(cost[chosen]! - least).toBeLessThanOrEqual(processedBound)
    }),
  )
})
