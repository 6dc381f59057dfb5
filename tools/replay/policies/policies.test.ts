import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ReplaySettings, replayDefaults } from '../replay-options.ts'
import { anyRequests, requestsOf } from '../requests.fixture.ts'
import { replayTrace } from '../run/replay-trace.ts'
import { policies } from './policies.ts'
import { type OrderingName, policyNames, sortedOrder } from './policy.ts'

const settings: ReplaySettings = {
  ...replayDefaults,
  pageTokens: 4,
  systemTokens: 10,
  questionTokens: 5,
}
const capacities = fc.constantFrom(60, 150, 400, Number.POSITIVE_INFINITY)

const orderings = policyNames.filter((name): name is OrderingName => name !== 'bound')
const runs = [
  ...orderings.map((name) => ({ name, mode: 'online' as const })),
  ...orderings.map((name) => ({ name, mode: 'offline' as const })),
]

describe.each(runs)('the policy $name, $mode', ({ name, mode }) => {
  // replayTrace throws if an order is not a permutation or a plan leaves out a request
  it('sends every block of every request once', () => {
    fc.assert(
      fc.property(anyRequests, capacities, (requests, capacityTokens) => {
        const run = replayTrace(requests, name, { ...settings, mode, capacityTokens })
        expect(run.sent.map(({ request }) => request.number).sort((a, b) => a - b)).toEqual(requests.map((_, i) => i))
      }),
      { numRuns: 60 },
    )
  })

  it('leaves a fixed order as it is', () => {
    const requests = requestsOf([
      [
        ['b', 9],
        ['a', 9],
      ],
      [
        ['a', 9],
        ['b', 9],
      ],
      [
        ['b', 9],
        ['a', 9],
        ['c', 9],
      ],
    ])
    for (const least of [0, 1]) {
      const some = requests.map((request) => ({ ...request, fixed: request.number >= least }))
      for (const { request, order } of replayTrace(some, name, { ...settings, mode }).sent) {
        if (request.fixed) expect(order).toEqual(order.map((_, i) => i))
      }
    }
  })
})

describe.each(orderings)('the policy %s, online', (name) => {
  it('orders the first requests in the same way whatever follows them', () => {
    fc.assert(
      fc.property(anyRequests, capacities, fc.nat(25), (requests, capacityTokens, limit) => {
        const orders = (part: typeof requests): unknown[] =>
          replayTrace(part, name, { ...settings, capacityTokens }).sent.map(({ order }) => order)
        expect(orders(requests.slice(0, limit))).toEqual(orders(requests).slice(0, limit))
      }),
      { numRuns: 60 },
    )
  })

  it('orders the requests of a tenant in the same way whatever others send', () => {
    fc.assert(
      fc.property(anyRequests, (requests) => {
        const red = requests.filter(({ tenant }) => tenant === 'red')
        const alone = replayTrace(
          red.map((request, number) => ({ ...request, number })),
          name,
          settings,
        )
        const among = replayTrace(requests, name, settings).sent.filter(({ request }) => request.tenant === 'red')
        expect(among.map(({ order }) => order)).toEqual(alone.sent.map(({ order }) => order))
      }),
      { numRuns: 60 },
    )
  })
})

describe('sorted', () => {
  it('puts numbers first, by size, and texts by code unit', () => {
    const [request] = requestsOf([
      [
        ['b', 1],
        ['a', 1],
        [10, 1],
        ['B', 1],
        [9, 1],
        ['10', 1],
        ['a', 1],
      ],
    ])
    expect(sortedOrder(request!)).toEqual([4, 2, 5, 3, 1, 6, 0])
  })
})

describe('paper, offline', () => {
  it('aligns contexts to what they share, and runs them one after the other', () => {
    const requests = requestsOf([
      [
        ['a', 9],
        ['b', 9],
        ['x', 9],
      ],
      [
        ['p', 9],
        ['q', 9],
      ],
      [
        ['y', 9],
        ['b', 9],
        ['a', 9],
      ],
    ])
    const planned = policies.paper.offline(requests)
    expect(planned.map(({ request, group }) => [request.number, group])).toEqual([
      [0, 0],
      [2, 0],
      [1, 1],
    ])
    const blocks = planned.map(({ request, order }) => order.map((place) => request.trace.blocks[place]!.id))
    expect(blocks).toEqual([
      ['a', 'b', 'x'],
      ['a', 'b', 'y'],
      ['p', 'q'],
    ])
    expect(planned[0]!.searchPath.slice(0, 1)).toEqual(planned[1]!.searchPath.slice(0, 1))
  })
})
