import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ReplaySettings, replayDefaults as settings } from './replay-options.ts'
import { type ReplayRequest, toReplayRequests } from './replay-request.ts'
import { toRatio } from './report/replay-report.ts'
import { countSeenBefore } from './run/prompt-layout.ts'
import { replayTrace } from './run/replay-trace.ts'
import { readTrace } from './trace/read-trace.ts'

/** Real traces may not be copied into the project. If there are any, they are next to the checkout. */
const data = join(import.meta.dirname, '../../../shared/data')

/** Hit ratio of the rank order and the bound, computed independently. */
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
      const radix = replayTrace(requests, 'rank', { ...settings, pageTokens: 1 })
      expect(toRatio(paged.cachedTokens, paged.promptTokens)).toBeCloseTo(rank, 3)
      expect(toRatio(countSeenBefore(requests, settings), paged.promptTokens)).toBeCloseTo(bound, 3)
      expect(radix.cachedTokens).toBeGreaterThanOrEqual(paged.cachedTokens)
      expect(radix.cachedTokens - paged.cachedTokens).toBeLessThan(16 * requests.length)
    },
  )
}

/**
 * Hit ratios to beat, to three decimals: ContextPilot's own code online and offline, and a greedy offline partition.
 */
const rivals = [
  { name: 'rag_cookbook_code', online: 0.221, offline: 0.412, greedy: 0.356 },
  { name: 'rag_cookbook_docs', online: 0.174, offline: 0.349, greedy: 0.674 },
  { name: 'rag_musique', online: 0.109, offline: 0.182, greedy: 0.18 },
  { name: 'rag_hotpot', online: 0.1, offline: 0.179, greedy: 0.169 },
  { name: 'rag_2wiki', online: 0.146, offline: 0.188, greedy: 0.201 },
] as const

test.skipIf(!rivals.every(({ name }) => hasTrace(name)))(
  'on the five retrieval traces the paper is no straw man, and ours is above it and above a greedy partition',
  async () => {
    const toOnline: number[] = []
    const toOffline: number[] = []
    for (const { name, online, offline, greedy } of rivals) {
      const requests = await requestsOf(name)
      const ratioOf = (policy: 'paper' | 'reprise', changes: Partial<ReplaySettings>): number => {
        const { cachedTokens, promptTokens } = replayTrace(requests, policy, { ...settings, ...changes })
        return toRatio(cachedTokens, promptTokens)
      }
      const planned = ratioOf('reprise', { mode: 'offline' })
      expect(ratioOf('paper', {})).toBeGreaterThan(online - 0.0005)
      expect(ratioOf('paper', { mode: 'offline' })).toBeGreaterThan(offline - 0.0005)
      expect(ratioOf('reprise', { mode: 'offline', capacityTokens: 65_536 })).toBeGreaterThan(0.97 * planned)
      toOnline.push(ratioOf('reprise', {}) / online)
      toOffline.push(planned / Math.max(offline, greedy))
    }
    const mean = (ratios: readonly number[]): number =>
      Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
    expect(Math.min(...toOnline, ...toOffline)).toBeGreaterThan(1)
    expect(mean(toOnline)).toBeGreaterThan(1.5)
    expect(mean(toOffline)).toBeGreaterThan(1.03)
  },
)
