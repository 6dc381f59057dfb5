import { expect, test } from 'vitest'
import { type ReplicaCandidate, type SelectionOptions, selectReplica } from './select-replica.ts'

/**
 * Request groups, each sharing a prefix. The replicas prefill one request at a time and evict the least recently used.
 */
interface Fleet {
  readonly replicas: number
  readonly groups: number
  /** number of group prefixes that a replica can hold */
  readonly held: number
  /** additional share of the requests that go to group 0 */
  readonly hot: number
  /** requests per second to the whole fleet */
  readonly arrivals: number
}

type Choice = (candidates: readonly ReplicaCandidate[], turn: number, group: number) => number

const tokensPerSecond = 20_000
const [prompt, shared] = [8_000, 6_000]

class SimulatedReplica {
  readonly name: string
  readonly #held = new Map<number, true>()
  readonly #capacity: number
  #freeAt = 0

  constructor(name: string, capacity: number) {
    this.name = name
    this.#capacity = capacity
  }

  candidate(group: number, now: number): ReplicaCandidate {
    return {
      replica: this.name,
      promptTokens: prompt,
      predictedCachedTokens: this.#held.has(group) ? shared : 0,
      inFlightTokens: Math.max(0, this.#freeAt - now) * tokensPerSecond,
      inFlight: 0,
      processedTokens: 0,
    }
  }

  /** Returns the time until the request is prefilled, including waiting. */
  run(group: number, now: number): number {
    const tokens = prompt - (this.#held.delete(group) ? shared : 0)
    this.#held.set(group, true)
    const [oldest] = this.#held.keys()
    if (this.#held.size > this.#capacity) this.#held.delete(oldest!)
    this.#freeAt = Math.max(this.#freeAt, now) + tokens / tokensPerSecond
    return this.#freeAt - now
  }
}

/** Returns the mean time to first token, in seconds. */
function simulate({ replicas, groups, held, hot, arrivals }: Fleet, choose: Choice): number {
  const fleet = Array.from({ length: replicas }, (_, i) => new SimulatedReplica(`replica ${i}`, held))
  let seed = 7
  const chance = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return seed / 0x7fff_ffff
  }
  const requests = 8_000
  let [now, sum] = [0, 0]
  for (let i = 0; i < requests; i++) {
    now -= Math.log(1 - chance()) / arrivals
    const group = chance() < hot ? 0 : Math.floor(groups * chance() ** 2)
    const candidates = fleet.map((replica) => replica.candidate(group, now))
    sum += fleet[choose(candidates, i, group)]!.run(group, now)
  }
  return sum / requests
}

const weighing =
  (options: Partial<SelectionOptions>): Choice =>
  (candidates, turn) =>
    selectReplica(candidates, { ...options, turn })
const ours = weighing({})
const leastLoaded: Choice = (candidates, turn) =>
  selectReplica(
    candidates.map((candidate) => ({ ...candidate, predictedCachedTokens: 0 })),
    { turn },
  )
const byGroup: Choice = (candidates, _turn, group) => group % candidates.length

/** All groups fit into the fleet's caches together, but not into one replica's cache. */
const even: Fleet = { replicas: 4, groups: 200, held: 50, hot: 0, arrivals: 14.5 }
/** One group has more requests than a replica can serve. */
const skewed: Fleet = { ...even, hot: 0.6, held: 100, arrivals: 16 }

test('prefixes stay where they are held: as fast as a fixed place for each, many times as fast as going by load', () => {
  expect(simulate(even, ours)).toBeLessThan(1.1 * simulate(even, byGroup))
  expect(simulate(even, ours)).toBeLessThan(simulate(even, leastLoaded) / 10)
})

test('a popular prefix spreads over the replicas, where a fixed place for it is swamped', () => {
  expect(simulate(skewed, ours)).toBeLessThan(simulate(skewed, byGroup) / 100)
  expect(simulate(skewed, ours)).toBeLessThan(simulate(skewed, leastLoaded))
})

test('the load ahead counts half: all of it tears groups apart, a tenth of it leaves a popular one too long in a place', () => {
  const tight: Fleet = { replicas: 8, groups: 1_000, held: 100, hot: 0, arrivals: 29 }
  expect(simulate(tight, weighing({ loadWeight: 1 }))).toBeGreaterThan(1.25 * simulate(tight, ours))
  const popular: Fleet = { replicas: 8, groups: 200, held: 20, hot: 0.5, arrivals: 32 }
  expect(simulate(popular, weighing({ loadWeight: 0.1 }))).toBeGreaterThan(1.5 * simulate(popular, ours))
})
