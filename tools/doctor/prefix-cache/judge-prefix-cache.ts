import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { Finding } from '../finding.ts'
import type { Probe, ProbeRun } from './probe-prefix-cache.ts'

/** The evidence for judging a prefix cache. */
export interface CacheEvidence {
  readonly engine: EngineAdapter
  /** what the engine reports about its cache */
  readonly cache: CacheConfig
  readonly run: ProbeRun
}

/** Judges from the probes whether cached tokens are reported, the prefix cache works, and salts are honoured. */
export function judgePrefixCache(evidence: CacheEvidence): Finding[] {
  const findings = [
    judgeReporting(evidence),
    judgeCaching(evidence),
    judgeSalt(evidence),
    judgePageSize(evidence.cache, evidence.run),
    judgeCheckpoints(evidence.cache),
  ]
  return findings.filter((finding) => finding !== undefined)
}

function judgeReporting(evidence: CacheEvidence): Finding {
  const finding = { check: 'cached_tokens' }
  if (countsOf(evidence) !== undefined) return { ...finding, level: 'ok', found: 'reported in usage' }
  const found = 'not reported in usage: predictions cannot be corrected, and hit ratios are unknown'
  return { ...finding, level: 'warning', found, fix: evidence.engine.advice.reportCachedTokens }
}

/** Cached tokens of the first probe and its repeats; undefined if they are not reported. */
function countsOf({ engine, cache, run }: CacheEvidence): number[] | undefined {
  const counts = [run.first, ...run.repeats].map(({ cachedTokens }) => cachedTokens)
  const isSilentZero = engine.omitsZeroCached && cache.reportsCachedTokens === true
  if (!isSilentZero && counts.every((count) => count === undefined)) return undefined
  return counts.map((count) => count ?? 0)
}

function judgeCaching(evidence: CacheEvidence): Finding {
  const { cache, run } = evidence
  const { switchOnCache, reportCachedTokens } = evidence.engine.advice
  const finding = { check: 'prefix_caching' }
  const counts = countsOf(evidence)
  const times = timesOf(run)
  if (cache.isEnabled === false)
    return { ...finding, level: 'fatal', found: 'is off, the engine says', fix: switchOnCache }
  if (counts === undefined) {
    return cache.isEnabled
      ? {
          ...finding,
          level: 'ok',
          found: `is on, the engine says; not measured: cached tokens are not reported (${times})`,
        }
      : {
          ...finding,
          level: 'warning',
          found: `cannot be measured: cached tokens are not reported (${times})`,
          fix: reportCachedTokens,
        }
  }
  const [first = 0, ...repeats] = counts
  const best = Math.max(...repeats)
  const total = run.first.promptTokens
  if (first > total / 2) {
    return {
      ...finding,
      level: 'warning',
      found: `${first} of ${total} tokens of a new prompt are reported as cached: the counts cannot be trusted`,
      fix: 'see what is between here and the engine, and what it does to usage',
    }
  }
  if (best === 0) return { ...finding, ...judgeNoHit(evidence) }
  const found = `works: ${best} of ${total} tokens of a repeated prompt were cached (${times})`
  if (repeats[0]! > 0) return { ...finding, level: 'ok', found }
  return {
    ...finding,
    level: 'warning',
    found: `works, but not the first time: there seem to be ${repeats.length} replicas behind this URL (${times})`,
    fix: 'give every replica as a separate --engine, without a load balancer in between',
  }
}

function judgeNoHit({ engine, cache, run }: CacheEvidence): Omit<Finding, 'check'> {
  const found = `nothing of a repeated prompt of ${run.first.promptTokens} tokens was cached (${timesOf(run)})`
  if (engine.kind === 'openai') {
    const fix = `${engine.advice.switchOnCache}; a provider may cache only longer prompts, or only for some models`
    return { level: 'warning', found, fix }
  }
  if (cache.pageTokens && cache.pageTokens >= run.first.promptTokens) {
    return {
      level: 'warning',
      found: `${found}: a page has ${cache.pageTokens} tokens`,
      fix: cache.sparseLayers === 'states' ? matchUnit : 'choose a smaller page size',
    }
  }
  if (!cache.isEnabled) return { level: 'fatal', found, fix: engine.advice.switchOnCache }
  const fix = 'give every replica as a separate --engine, and the engine more memory for its cache'
  return { level: 'fatal', found: `${found}, though the engine says that caching is on`, fix }
}

function judgeSalt(evidence: CacheEvidence): Finding | undefined {
  const { engine, run } = evidence
  const counts = countsOf(evidence)
  if (!run.otherSalt || counts === undefined) return undefined
  const best = Math.max(...counts)
  if (best === 0) return undefined
  const foreign = run.otherSalt.cachedTokens ?? 0
  const finding = { check: 'cache_salt' }
  // the chat template's own text at the start may be shared by all
  if (foreign <= Math.max(counts[0]!, best / 2)) {
    return { ...finding, level: 'ok', found: 'honoured: tenants share no cache' }
  }
  return {
    ...finding,
    level: 'warning',
    found: `ignored: ${foreign} tokens were cached under another salt, so tenants can infer from timing what others sent`,
    fix: `upgrade to a version of ${engine.advice.name} that supports cache_salt, or serve one tenant`,
  }
}

function timesOf({ first, repeats }: ProbeRun): string {
  const last = repeats.at(-1)
  const repeated = last ? `, repeated ${Math.round(last.milliseconds)} ms` : ''
  return `first ${Math.round(first.milliseconds)} ms${repeated}`
}

/** With larger pages than this, much of a context may be after the last full page. */
const largePage = 256

/** Reports the page size, as the engine states it or inferred from what was cached; undefined if neither shows it. */
function judgePageSize(cache: CacheConfig, run: ProbeRun): Finding | undefined {
  const hit = [...run.repeats].reverse().find(({ cachedTokens }) => cachedTokens)
  const most = hit && largestPage(hit)
  const size = cache.pageTokens ?? most
  if (size === undefined) return undefined
  const capacity = cache.capacityTokens ? `, room for ${cache.capacityTokens.toLocaleString('en-US')} tokens` : ''
  const found = `${cache.pageTokens ? '' : 'at most '}${size} ${size === 1 ? 'token' : 'tokens'}${capacity}`
  if (size <= largePage || !cache.pageTokens) return { check: 'page_size', level: 'ok', found }
  if (cache.sparseLayers === 'states') {
    const fix = `${matchUnit}; shorter beginnings of prompts are never shared`
    return { check: 'page_size', level: 'warning', found: `${found}, set by the size of the model's states`, fix }
  }
  const fix = 'choose smaller pages (vLLM: --block-size, SGLang: --page-size): only full pages are shared'
  return { check: 'page_size', level: 'warning', found, fix }
}

/** A state is as large as many tokens of full attention, which sets the size of vLLM's blocks. */
const matchUnit = 'start vLLM with --prefix-match-unit, so that prompts are found to their ends within a block'

/** Says that a prefix is found only where the engine keeps a checkpoint of it. */
function judgeCheckpoints({ sparseLayers }: CacheConfig): Finding | undefined {
  if (sparseLayers === undefined) return undefined
  const found =
    `this model has layers with ${sparseLayers}, of which only checkpoints are kept: two prompts that share documents ` +
    'find nothing of them, the third does, unless something sets a checkpoint where they part'
  const fix = "load reprise's plugin, which sets them where documents end"
  const retention = ', or start vLLM with --prefix-cache-retention-interval and a number of tokens'
  return { check: 'checkpoints', level: 'warning', found, fix: sparseLayers === 'windows' ? fix + retention : fix }
}

/** The largest page size, a power of two, that explains a count: all full pages before the last token. */
function largestPage({ promptTokens, cachedTokens = 0 }: Probe): number | undefined {
  for (let size = 4096; size >= 1; size /= 2) {
    if (Math.floor((promptTokens - 1) / size) * size === cachedTokens) return size
  }
  return undefined
}
