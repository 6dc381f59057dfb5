import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ReplaySettings } from './replay-options.ts'
import { type ReplayRequest, toReplayRequests } from './replay-request.ts'
import { replayTrace } from './replay-trace.ts'
import { toRatio } from './report/replay-report.ts'
import { countSeenBefore } from './seen-before.ts'
import { readTrace } from './trace/read-trace.ts'

/** Real traces may not be copied into the project: they lie beside the checkout, where there are any. */
const data = join(import.meta.dirname, '../../shared/data')
const settings: ReplaySettings = {
  mode: 'online',
  cache: 'paged',
  capacityTokens: Number.POSITIVE_INFINITY,
  pageTokens: 16,
  systemTokens: 200,
  questionTokens: 30,
  window: 1,
}

/** Hit ratio of the rank order, and the bound, computed elsewhere by other means. */
const traces = [
  ['rag_cookbook_code', 0.118, 0.835],
  ['rag_cookbook_docs', 0.026, 0.946],
  ['rag_musique', 0.101, 0.273],
  ['rag_hotpot', 0.087, 0.411],
  ['rag_2wiki', 0.11, 0.279],
] as const

const hasTrace = (name: string): boolean => existsSync(join(data, name))
const requestsOf = async (name: string): Promise<ReplayRequest[]> =>
  toReplayRequests((await readTrace(join(data, name))).requests)

for (const [name, rank, bound] of traces) {
  test.skipIf(!hasTrace(name))(
    `${name}: ranked, ${rank} of the prompt tokens are cached, of ${bound} at most`,
    async () => {
      const requests = await requestsOf(name)
      const paged = replayTrace(requests, 'rank', settings)
      const radix = replayTrace(requests, 'rank', { ...settings, cache: 'radix' })
      expect(toRatio(paged.cachedTokens, paged.promptTokens)).toBeCloseTo(rank, 3)
      expect(toRatio(countSeenBefore(requests, settings), paged.promptTokens)).toBeCloseTo(bound, 3)
      expect(radix.cachedTokens).toBeGreaterThanOrEqual(paged.cachedTokens)
      expect(radix.cachedTokens - paged.cachedTokens).toBeLessThan(16 * requests.length)
    },
  )
}

test.skipIf(!hasTrace('agent_lmcache'))('agent_lmcache: a fixed order finds all that was seen before', async () => {
  const requests = await requestsOf('agent_lmcache')
  const run = replayTrace(requests, 'reprise', { ...settings, cache: 'radix' })
  const seen = countSeenBefore(requests, settings)
  // but for the last token of a prompt that was sent before as a whole
  expect(seen - run.cachedTokens).toBeLessThanOrEqual(requests.length)
  expect(run.sent.every(({ order }) => order.every((place, at) => place === at))).toBe(true)
})
