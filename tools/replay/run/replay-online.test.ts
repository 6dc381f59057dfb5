import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OnlinePolicy } from '../policies/policy.ts'
import { replayDefaults } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { anyRequests, requestsOf, type Sized } from '../requests.fixture.ts'
import { countSeenBefore } from './prompt-layout.ts'
import type { ReplayRun } from './replay-trace.ts'
import { replayTrace } from './replay-trace.ts'

const frame = { systemTokens: 16, questionTokens: 4 }
const a: Sized = ['a', 16]
const b: Sized = ['b', 16]
const c: Sized = ['c', 16]

/** Keeps the rank order and records the cuts. */
class Recorder implements OnlinePolicy {
  readonly cuts: [request: number, keptBlocks: number][] = []
  readonly #sent = new Set<number>()

  order(request: ReplayRequest): readonly number[] {
    return request.context.map((_, place) => place)
  }

  holds({ number }: ReplayRequest, _order: readonly number[], blocks: number): void {
    if (this.#sent.has(number)) this.cuts.push([number, blocks])
    this.#sent.add(number)
  }
}

function play(requests: readonly ReplayRequest[], online: OnlinePolicy, capacityTokens: number): ReplayRun {
  const settings = { ...replayDefaults, ...frame, pageTokens: 4, capacityTokens }
  return replayTrace(requests, { name: 'rank', online }, settings)
}

test('cached tokens are the system prompt and the blocks in front that were sent before', () => {
  const run = play(requestsOf([[a, b], [a, c], [b, a], []]), new Recorder(), Number.POSITIVE_INFINITY)
  expect(run).toMatchObject({ cachedTokens: 32 + 16 + 16, promptTokens: 3 * 52 + 20 })
})

test('tenants share nothing', () => {
  const requests = requestsOf(
    [
      [a, b],
      [a, b],
      [a, b],
    ],
    ['red', 'blue', 'red'],
  )
  expect(play(requests, new Recorder(), Number.POSITIVE_INFINITY).cachedTokens).toBe(48)
})

test('the policy learns how many blocks of a request are still cached', () => {
  const policy = new Recorder()
  // the second prompt evicts a page of b; the third evicts everything except the system prompt
  play(requestsOf([[a, b], [c], [['d', 32]]]), policy, 64)
  expect(policy.cuts).toEqual([
    [0, 2],
    [0, 1],
    [1, 1],
    [0, 0],
    [1, 0],
    [2, 1],
  ])
})

test('of a prompt that is larger than the cache, the policy learns which blocks in front stay', () => {
  const policy = new Recorder()
  const run = play(requestsOf([[a], [a, b, c], [a]]), policy, 40)
  expect(run).toMatchObject({ cachedTokens: 32 + 32 })
  expect(policy.cuts).toEqual([
    [0, 1],
    [0, 1],
    [1, 1],
    // the third prompt's question evicts the end of its front
    [1, 1],
    [2, 1],
  ])
})

test('a policy that loses or repeats a block is named', () => {
  const policy = new Recorder()
  policy.order = () => [0, 0]
  expect(() => play(requestsOf([[a, b]]), policy, 1000)).toThrow(/internal error: the policy rank .* request "q0"/)
})

test('no policy finds more in a cache than was seen before', () => {
  const ordering = fc.record({
    name: fc.constantFrom('rank', 'sorted', 'paper', 'reprise'),
    mode: fc.constantFrom('online', 'offline'),
  })
  fc.assert(
    fc.property(anyRequests, ordering, (requests, { name, mode }) => {
      // a block that occurs twice in a context is in a shared prefix only once
      const once = requests.filter(({ context }) => new Set(context).size === context.length)
      const numbered = once.map((request, number) => ({ ...request, number }))
      const cache = { capacityTokens: Number.POSITIVE_INFINITY, pageTokens: 1 }
      const run = replayTrace(numbered, name, { ...replayDefaults, ...frame, ...cache, mode })
      expect(run.cachedTokens).toBeLessThanOrEqual(countSeenBefore(numbered, frame))
    }),
  )
})
