import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AverageDensity } from '#index/average-density.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId, ScopeId } from '#index/context-block.ts'
import { admissionHotness, evictionPriority } from '#index/hotness/hotness-formula.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { toHotPolicy } from '#index/mirror/hot/eviction-policy.ts'
import { HotEvictions } from '#index/mirror/hot/hot-evictions.ts'
import { HotPrefixEviction } from './eviction/hot-prefix.ts'
import { run } from './histories.fixture.ts'
import { NodeHotness } from './node-hotness.ts'
import { TieredCache } from './tiered-cache.ts'

const lengths = [3, 4, 7, 11, 16]
const request = fc.record({
  blocks: fc.array(fc.nat(4), { maxLength: 5 }),
  question: fc.integer({ min: 1, max: 6 }),
})
type Asked = { readonly blocks: readonly number[]; readonly question: number }

/** Builds a prompt in which a token is one character. */
function promptOf({ blocks, question }: Asked): SentPrompt {
  const ends: number[] = []
  for (const block of blocks) ends.push((ends.at(-1) ?? 0) + lengths[block]!)
  const prefixes = blocks.map((_, i) => blocks.slice(0, i + 1).join(' ') as ScopeId)
  return { contexts: [], prefixes, ends, length: (ends.at(-1) ?? 0) + question }
}

function tokensOf({ blocks, question }: Asked, number: number): Uint32Array {
  return Uint32Array.from([
    ...blocks.flatMap((block) => run(1 + block, lengths[block]!)),
    ...run(100 + number, question),
  ])
}

function createMirror(): CacheMirror {
  const average = new AverageDensity()
  average.note(1)
  return new CacheMirror({ maxRequests: 10_000, maxBlocks: 1_000_000, average })
}

/** A block is cut that two requests end in: the rest of it must count once. */
const blocksOfTwo = [[2, 2], [4], [3], [0, 0], [1], [0, 2, 1], [0, 1, 3], [4, 2], [2, 2]]
const cutForTwo: Asked[] = blocksOfTwo.map((blocks, i) => ({ blocks, question: [1, 1, 1, 2, 1, 3, 6, 1, 1][i]! }))

const mostBlocks = (tokens: number, { ends }: SentPrompt): number => ends.findLast((end) => end <= tokens) ?? 0

test.each([evictionPriority, admissionHotness, 'clock + frequency / length'])(
  'what is believed of a cache that evicts by %s and reports nothing is what it holds, to the block',
  (priority) => {
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 60 }),
        fc.constantFrom(90, 100, 130, 200),
        fc.constantFrom(1, 3, 16),
        (history, capacity, requestsPerAge) => {
          const hotness = new NodeHotness(1, { requestsPerAge })
          const cache = new TieredCache(capacity, 1, new HotPrefixEviction(hotness, priority))
          const mirror = createMirror()
          const report = { policy: 'hotprefix', priority, max_age: 255, requests_per_age: requestsPerAge }
          const evictions = new HotEvictions(mirror, (cut) => mirror.apply(cut), toHotPolicy(report)!)
          for (const [number, asked] of history.entries()) {
            const prompt = promptOf(asked)
            const id = `${number}` as RequestId
            const predicted = mirror.predictCachedTokens(prompt)
            mirror.apply({ type: 'sent', request: id, prompt })
            evictions.sent(id, prompt, capacity)
            expect(predicted).toBe(mostBlocks(cache.serve(number, '', tokensOf(asked, number)), prompt))
          }
        },
      ),
      { numRuns: 500, examples: [[cutForTwo, 90, 1]] },
    )
  },
)
