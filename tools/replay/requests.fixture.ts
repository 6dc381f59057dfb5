import fc from 'fast-check'
import { type ReplayRequest, toReplayRequests } from './replay-request.ts'
import { TraceBlock, type TraceRequest } from './trace/trace.ts'

/** A block's id and its size in tokens. */
export type Sized = readonly [id: string | number, tokens: number]

/** Builds requests with these blocks, all of one tenant by default. */
export function requestsOf(contexts: readonly (readonly Sized[])[], tenants: readonly string[] = []): ReplayRequest[] {
  const requests = contexts.map(
    (blocks, at): TraceRequest => ({
      queryId: `q${at}`,
      query: undefined,
      conversation: undefined,
      tenant: tenants[at] ?? 'tenant',
      blocks: blocks.map(([id, tokens]) => new TraceBlock(id, { tokens })),
    }),
  )
  return toReplayRequests(requests)
}

/** Random requests of two tenants, with repeated blocks, empty contexts, and ids that are strings or numbers. */
export const anyRequests: fc.Arbitrary<ReplayRequest[]> = fc
  .array(fc.record({ blocks: fc.array(fc.nat(9), { maxLength: 8 }), tenant: fc.constantFrom('red', 'blue') }), {
    minLength: 1,
    maxLength: 25,
  })
  .map((requests) =>
    requestsOf(
      requests.map(({ blocks }) => blocks.map((n): Sized => [n % 2 === 0 ? n : String(n - 1), 5 + 7 * n])),
      requests.map(({ tenant }) => tenant),
    ),
  )
