import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlannedRequest } from '#tools/replay/policies/policy.ts'
import { anyRequests, requestsOf, type Sized } from '#tools/replay/requests.fixture.ts'
import { planByGreedy } from './plan-by-greedy.ts'
import { planByHybrid } from './plan-by-hybrid.ts'

/** Returns the tokens that an unlimited cache finds. */
function savedBy(planned: readonly PlannedRequest[]): number {
  const seen = new Set<string>()
  let saved = 0
  for (const { request, order } of planned) {
    let prefix = ''
    for (const place of order) {
      prefix += `${request.context[place]},`
      if (seen.has(prefix)) saved += request.sizes[place]!
      seen.add(prefix)
    }
  }
  return saved
}

test('a request moves to where it shares more than the partition saw', () => {
  // the partition takes b first, as four requests have it, and so separates bac from the others with a and c
  const sized = (blocks: string): Sized[] =>
    [...blocks].map((id) => [id, ({ a: 10, b: 12, c: 10 } as Record<string, number>)[id] ?? 1])
  const requests = requestsOf(['bx', 'by', 'bz', 'bac', 'acp', 'acq'].map(sized))
  expect(savedBy(planByGreedy(requests))).toBe(36 + 20)
  expect(savedBy(planByHybrid(requests))).toBe(24 + 40)
})

test('it saves no less than the partition it begins with', () => {
  fc.assert(
    fc.property(anyRequests, (any) => {
      // repeated blocks are not planned
      const requests = any.filter(({ context }) => new Set(context).size === context.length)
      expect(savedBy(planByHybrid(requests))).toBeGreaterThanOrEqual(savedBy(planByGreedy(requests)))
    }),
    { numRuns: 300 },
  )
})
