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
  if (size <= largePage || !cache.pageTokens) return { check: 'page_size', level: 'ok', found }
  const fix = 'choose smaller pages (vLLM: --block-size, SGLang: --page-size): only full pages are shared'
  return { check: 'page_size', level: 'warning', found, fix }
}

/** The largest page size, a power of two, that explains a count: all full pages before the last token. */
function largestPage({ promptTokens, cachedTokens = 0 }: Probe): number | undefined {
  for (let size = 4096; size >= 1; size /= 2) {
    if (Math.floor((promptTokens - 1) / size) * size === cachedTokens) return size
  }
  return undefined
}
