import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type OrderCounts, OrderEvidence } from './order-evidence.ts'

/** What is counted of a list, after others with questions 100, 101 …; `question` is its own. */
function countsOf(lists: readonly (readonly number[])[], keys: readonly number[], question = 1): Partial<OrderCounts> {
  const evidence = new OrderEvidence()
  lists.forEach((own, i) => {
    evidence.learn(own, 100 + i)
  })
  const before = { ...evidence.counts }
  evidence.learn(keys, question)
  const changed = Object.entries(evidence.counts).map(
    ([name, count]) => [name, count - before[name as keyof OrderCounts]] as const,
  )
  return Object.fromEntries(changed.filter(([, count]) => count !== 0))
}

const row = [1, 2, 3, 4, 5, 6, 7, 8]

test.each([
  ['the same list', row, { again: 1 }],
  ['some left out, new ones between', [1, 90, 3, 4, 91, 7, 8], { equal: 10 }],
  ['one moved to the top', [6, 1, 2, 3, 4, 5, 7, 8], { nearMoved: 1 }],
  ['three moved to the top', [5, 3, 8, 1, 2, 4, 6, 7], { nearMoved: 1 }],
  ['one put to the end', [1, 2, 4, 5, 6, 7, 8, 3], { nearMoved: 1 }],
  ['reversed', row.toReversed(), { nearMoved: 1 }],
  ['in another order', [3, 7, 1, 8, 4, 6, 2, 5], { nearMixed: 1, flippingLists: 1 }],
  ['three in common', [3, 2, 1, 90, 91], { flips: 3, flippingLists: 1, flippedPairs: 3, movers: 2 }],
])('%s', (_, keys, counted) => {
  expect(countsOf([row], keys)).toMatchObject(counted)
})

test('compares with the list that has most in common, not with the last one', () => {
  const keys = [4, 1, 2, 3, 5, 6, 7, 8]
  expect(countsOf([row, [1, 8, 7, 3, 90, 91]], keys)).toMatchObject({ nearMoved: 1 })
})

test('lists that stand like the last one with three of their documents are counted in a row', () => {
  const alike = countsOf([row], [1, 3, 5, 90, 91])
  expect(alike).toMatchObject({ alike: 1 })
  expect(countsOf([row], [5, 3, 1, 90, 91])).not.toHaveProperty('alike')
  expect(countsOf([row, [8, 7, 6, 92]], [1, 3, 6, 7, 8])).not.toHaveProperty('alike')
})

test('a question that came with some of these documents in another order is asked again', () => {
  expect(countsOf([row], [8, 90, 1], 100)).toEqual({ askedAgain: 1 })
  expect(countsOf([row], [1, 90, 8], 100)).toEqual({ again: 1 })
  expect(countsOf([row], [8, 90, 91], 100)).toMatchObject({ lists: 1 })
})

test('documents that part from the one behind them are no longer stuck, and stay so', () => {
  expect(countsOf([[1, 2, 3]], [9, 1, 2])).toMatchObject({ seenAgain: 2, followed: 2, stuck: 1 })
  const [beside, parting] = [
    [9, 1, 2],
    [1, 8, 7],
  ] as const
  expect(countsOf([[1, 2, 3], beside], parting)).toMatchObject({ stuck: -1 })
  expect(countsOf([[1, 2, 3], beside, parting], [6, 1, 8])).not.toHaveProperty('stuck', -1)
})

test('what was longest ago is forgotten', () => {
  const others = Array.from({ length: 96 }, (_, i) => [100 + i, 200 + i, 300 + i])
  expect(countsOf([row, ...others], row)).toEqual({ lists: 1 })
  expect(countsOf([row, ...others], [100, 200, 300])).toEqual({ again: 1 })
})

test('each pair is compared with how it stood last', () => {
  const lists = fc.array(fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 3 }), { maxLength: 60 })
  fc.assert(
    fc.property(lists, (lists) => {
      const evidence = new OrderEvidence()
      const firsts = new Map<string, number>()
      let equal = 0
      for (const [i, keys] of lists.entries()) {
        if (evidence.learn(keys, i) === undefined) continue
        const pairs = keys.flatMap((first, at) => keys.slice(at + 1).map((second) => [first, second] as const))
        equal += pairs.filter((pair) => firsts.get(pair.toSorted().join()) === pair[0]).length
        expect(evidence.counts.equal).toBe(equal)
        for (const pair of pairs) firsts.set(pair.toSorted().join(), pair[0])
      }
    }),
  )
})
