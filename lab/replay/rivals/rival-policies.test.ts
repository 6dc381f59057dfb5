import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replayDefaults } from '#tools/replay/replay-options.ts'
import { anyRequests } from '#tools/replay/requests.fixture.ts'
import { replayTrace } from '#tools/replay/run/replay-trace.ts'
import { createPolicy } from './rival-policies.ts'

test.each([
  ['trie', 'online'],
  ['greedy', 'offline'],
  ['hybrid', 'offline'],
] as const)('the rival %s, %s, sends every block of every request once', (name, mode) => {
  // replayTrace throws if an order is not a permutation or a plan leaves out a request
  fc.assert(
    fc.property(anyRequests, fc.constantFrom(60, 400, Number.POSITIVE_INFINITY), (requests, capacityTokens) => {
      const settings = { ...replayDefaults, pageTokens: 4, systemTokens: 10, questionTokens: 5, mode, capacityTokens }
      const run = replayTrace(requests, createPolicy(name), settings)
      expect(run.sent.map(({ request }) => request.number).toSorted((a, b) => a - b)).toEqual(
        requests.map((_, at) => at),
      )
    }),
    { numRuns: 60 },
  )
})
