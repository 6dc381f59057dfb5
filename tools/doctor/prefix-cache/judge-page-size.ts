import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import type { Finding } from '../finding.ts'
import type { Probe, ProbeRun } from './probe-prefix-cache.ts'

/** With larger pages than this, much of a context may be after the last full page. */
const largePage = 256

/** Reports the page size, as the engine states it or inferred from what was cached; undefined if neither shows it. */
export function judgePageSize(cache: CacheConfig, run: ProbeRun): Finding | undefined {
  const hit = [...run.repeats].reverse().find(({ cachedTokens }) => cachedTokens)
  const most = hit && largestPage(hit)
  const size = cache.pageTokens ?? most
  if (size === undefined) return undefined
  const capacity = cache.capacityTokens ? `, room for ${cache.capacityTokens.toLocaleString('en-US')} tokens` : ''
  const found = `${cache.pageTokens ? '' : 'at most '}${size} ${size === 1 ? 'token' : 'tokens'}${capacity}`
  const finding = { check: 'page_size', found } as const
  if (size <= largePage || !cache.pageTokens) return { ...finding, level: 'ok' }
  const { matchTokens } = cache
  const ends = matchTokens ? `; prompts are found to their ends in steps of ${matchTokens}` : ''
  const cause = cache.hasStates && !cache.isPageChosen ? ", set by the size of the model's states" : ''
  const fix = smallerSteps(cache)
  return { ...finding, level: fix ? 'warning' : 'ok', found: `${found}${cause}${ends}`, ...(fix && { fix }) }
}

/** What makes the engine find more of a prompt than whole pages of this size; undefined if nothing does. */
export function smallerSteps({
  hasStates,
  isPageChosen,
  matchTokens,
  pageTokens = 0,
}: CacheConfig): string | undefined {
  if (!hasStates) return 'choose smaller pages (vLLM: --block-size, SGLang: --page-size): only full pages are shared'
  // a state is as large as many tokens of full attention, which sets the least size of vLLM's blocks
  const chosen = 'start vLLM without --block-size: its blocks are then the smallest that hold a state of the model'
  if (matchTokens) return isPageChosen ? chosen : undefined
  // it must divide the blocks, which are multiples of 16
  const match = `start vLLM with --prefix-match-unit ${pageTokens % 32 === 0 ? 32 : 16}: prompts are then found to their ends, but shared beginnings only in whole blocks`
  return isPageChosen ? `${chosen}, or ${match}` : match
}

/** The largest page size, a power of two, that explains a count: all full pages before the last token. */
function largestPage({ promptTokens, cachedTokens = 0 }: Probe): number | undefined {
  for (let size = 4096; size >= 1; size /= 2) {
    if (Math.floor((promptTokens - 1) / size) * size === cachedTokens) return size
  }
  return undefined
}
