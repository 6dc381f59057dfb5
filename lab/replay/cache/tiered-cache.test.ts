import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { historiesOf, run, type SentPrompt } from '#emulator/cache/histories.fixture.ts'
import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { createEviction } from './eviction/create-eviction.ts'
import type { Eviction } from './eviction/eviction.ts'
import { evictionNames } from './eviction/eviction-names.ts'
import { HostTier } from './host-tier.ts'
import { evictionPriority, parseFormula } from './hotness-formula.ts'
import { NodeHotness } from './node-hotness.ts'
import { TieredCache } from './tiered-cache.ts'
import type { TreeNode } from './tree-node.ts'

const capacities = fc.constantFrom(8, 20, 33, 50, 90, 400)
const pages = fc.constantFrom(1, 4)

/** Returns what each request found, and the changes it caused to all requests. */
function play(cache: Pick<TieredCache, 'serve' | 'takeChanges'>, history: readonly SentPrompt[]): unknown[] {
  return history.map(({ salt, tokens }, number) => [cache.serve(number, salt, tokens), ...cache.takeChanges()])
}

/** Sorts the changes, for caches that report them in different orders. */
const sorted = (played: unknown[]): unknown[] =>
  played.map((step) => {
    const [cached, ...changes] = step as [number, ...[number, number][]]
    return [cached, ...changes.sort(([a], [b]) => a - b)]
  })

/** Algorithm 1 as printed: at each eviction, computes the priorities of all leaves and takes the lowest. */
class BruteForceEviction implements Eviction {
  readonly #leaves = new Set<TreeNode>()
  readonly #formula = parseFormula(evictionPriority)
  readonly #hotness: NodeHotness

  constructor(hotness: NodeHotness) {
    this.#hotness = hotness
  }

  use(node: TreeNode): void {
    this.#hotness.use(node)
  }

  split(front: TreeNode, tail: TreeNode): void {
    this.#hotness.split(front, tail)
  }

  offer(node: TreeNode): void {
    this.#leaves.add(node)
  }

  withdraw(node: TreeNode): void {
    this.#leaves.delete(node)
  }

  victim(): TreeNode | undefined {
    const priority = (node: TreeNode): number => this.#hotness.evaluate(this.#formula, node)
    return [...this.#leaves].sort((a, b) => priority(a) - priority(b) || a.lastUse - b.lastUse)[0]
  }

  evicted(): void {}

  passRequest(): void {
    this.#hotness.passRequest()
  }
}

function createTiered(name: (typeof evictionNames)[number], capacityTokens: number, pageTokens: number): TieredCache {
  const hotness = new NodeHotness(pageTokens, { requestsPerAge: 3 })
  return new TieredCache(capacityTokens, pageTokens, createEviction(name, { capacityTokens, pageTokens, hotness }))
}

describe('TieredCache', () => {
  test('that gives up the least recently used is TreeCache, request for request', () => {
    fc.assert(
      fc.property(historiesOf(60), capacities, pages, (history, capacity, page) => {
        const plain = play(new TreeCache(capacity, page), history)
        expect(sorted(play(createTiered('lru', capacity, page), history))).toEqual(sorted(plain))
      }),
      { numRuns: 300 },
    )
  })

  test('chooses by Algorithm 1 of HotPrefix what the algorithm chooses that looks at every leaf each time', () => {
    fc.assert(
      fc.property(historiesOf(60), capacities, pages, (history, capacity, page) => {
        const brute = new BruteForceEviction(new NodeHotness(page, { requestsPerAge: 3, capacity: 64 }))
        const played = play(new TieredCache(capacity, page, brute), history)
        expect(play(createTiered('hotprefix', capacity, page), history)).toEqual(played)
      }),
      { numRuns: 300 },
    )
  })

  test.each(evictionNames)(
    'finds by %s no more than a cache without limits, and with room for all just that',
    (name) => {
      fc.assert(
        fc.property(historiesOf(60), capacities, pages, (history, capacity, page) => {
          const cachedBy = (cache: Pick<TieredCache, 'serve'>): number[] =>
            history.map(({ salt, tokens }, number) => cache.serve(number, salt, tokens))
          const all = cachedBy(new TreeCache(Number.POSITIVE_INFINITY, page))
          const found = cachedBy(createTiered(name, capacity, page))
          expect(found.filter((cached, i) => cached > all[i]!)).toEqual([])
          expect(cachedBy(createTiered(name, 100_000, page))).toEqual(all)
        }),
      )
    },
  )

  test('an answer is cached behind its prompt, and is no part of what the prompt finds', () => {
    const tokens = Uint32Array.from(run(1, 20))
    for (const cache of [new TreeCache(100, 1), createTiered('hotprefix', 100, 1)]) {
      expect([cache.serve(0, '', tokens, 12), cache.serve(1, '', tokens, 12), cache.serve(2, '', tokens)]).toEqual([
        0, 11, 19,
      ])
    }
  })
})

describe('TieredCache with a host', () => {
  interface Play {
    readonly host: HostTier
    readonly cached: number[]
  }

  function playOnHost(
    history: readonly SentPrompt[],
    capacity: number,
    leastFrequency: number,
    promotedTokens: number,
    name: 'hotprefix' | 'lru' = 'hotprefix',
  ): Play {
    const hotness = new NodeHotness(1, { requestsPerAge: 3 })
    const counts = name === 'lru'
    const host = new HostTier({ capacityTokens: 60, hotness, counts, leastFrequency, promotedTokens })
    const eviction = createEviction(name, { capacityTokens: capacity, pageTokens: 1, hotness })
    const cache = new TieredCache(capacity, 1, eviction, host)
    const cached = history.map(({ salt, tokens }, number) => {
      const found = cache.serve(number, salt, tokens)
      expect(cache.freeTokens).toBeGreaterThanOrEqual(0)
      expect(host.usedTokens).toBeLessThanOrEqual(60)
      expect(host.usedTokens).toBeGreaterThanOrEqual(0)
      return found
    })
    return { host, cached }
  }

  test('neither tier holds more than its room, and what is found was seen before', () => {
    fc.assert(
      fc.property(
        historiesOf(60),
        capacities,
        fc.constantFrom(0, 2, 10),
        fc.constantFrom(0, 5, 20, 100),
        fc.constantFrom('hotprefix', 'lru'),
        (history, capacity, least, promoted, name) => {
          const { host, cached } = playOnHost(history, capacity, least, promoted, name)
          const all = new TreeCache(Number.POSITIVE_INFINITY, 1)
          const seen = history.reduce((sum, { salt, tokens }, number) => sum + all.serve(number, salt, tokens), 0)
          const { found, offloaded, loaded, promoted: moved } = host.figures
          expect(cached.reduce((sum, tokens) => sum + tokens, 0) + found).toBeLessThanOrEqual(seen)
          // a token can leave the host only as often as it came
          expect(loaded + moved).toBeLessThanOrEqual(offloaded)
          if (promoted === 0) expect(moved).toBe(0)
        },
      ),
      { numRuns: 300 },
    )
  })

  // a skipped node may be dropped together with a leaf that makes room for the next one
  test('keeps its account of the host however often the same prefixes go there and come back', () => {
    const requests = fc.array(fc.record({ task: fc.nat(5), question: fc.integer({ min: 3, max: 11 }) }), {
      minLength: 200,
      maxLength: 400,
    })
    fc.assert(
      fc.property(requests, fc.constantFrom('hotprefix', 'lru'), (list, name) => {
        const history = list.map(({ task, question }, i) => ({
          salt: '',
          tokens: Uint32Array.from([...run(task, 8 + 4 * task), ...run(100 + i, question)]),
        }))
        playOnHost(history, 60, 2, 12, name)
      }),
      { numRuns: 40 },
    )
  })

  const prompt = (seed: number, length = 20): SentPrompt => ({ salt: '', tokens: Uint32Array.from(run(seed, length)) })

  test('only what was asked for as often as the threshold says is kept, and it is found there', () => {
    const twice = [prompt(1), prompt(1), prompt(2), prompt(3), prompt(4), prompt(1)]
    expect(playOnHost(twice, 20, 3, 0).host.figures).toEqual({ found: 0, offloaded: 0, loaded: 0, promoted: 0 })
    const { host, cached } = playOnHost(twice, 20, 2, 0)
    expect(host.figures).toMatchObject({ offloaded: 20, found: 19, loaded: 19 })
    expect(cached.at(-1)).toBe(0)
  })

  test('what is hotter than a leaf of the device takes its place while answers are decoded, as far as the link goes', () => {
    const history = [prompt(1), prompt(1), prompt(1), prompt(2), prompt(1)]
    expect(playOnHost(history, 20, 2, 0).cached.at(-1)).toBe(0)
    const { host, cached } = playOnHost(history, 20, 2, 20)
    expect(host.figures.promoted).toBe(20)
    expect(cached.at(-1)).toBe(19)
    expect(playOnHost(history, 20, 2, 18).host.figures.promoted).toBe(0)
  })
})
