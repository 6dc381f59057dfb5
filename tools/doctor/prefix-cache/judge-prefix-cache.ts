import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineAdapter, EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { MirroredReplica } from '../check-proxy.ts'
import { type Finding, fatal, ok, warning } from '../finding.ts'
import { judgePageSize, smallerSteps } from './page-size.ts'
import type { ProbeRun } from './probe-prefix-cache.ts'

const caching = 'prefix_caching'

/** The evidence for judging a prefix cache. */
export interface CacheEvidence {
  readonly engine: EngineAdapter
  /** what the engine reports about its cache */
  readonly cache: CacheConfig
  readonly run: ProbeRun
  /** what a running proxy knows of it */
  readonly replica?: MirroredReplica | undefined
}

/** Judges from the probes whether cached tokens are reported, the prefix cache works, and salts are honoured. */
export function judgePrefixCache(evidence: CacheEvidence): Finding[] {
  const findings = [
    judgeReporting(evidence),
    judgeCaching(evidence),
    judgeSalt(evidence),
    judgePageSize(evidence.cache),
    judgeCheckpoints(evidence),
  ]
  return findings.filter((finding) => finding !== undefined)
}

function judgeReporting(evidence: CacheEvidence): Finding {
  if (countsOf(evidence) !== undefined) return ok('cached_tokens', 'reported in usage')
  const found = 'not reported in usage: predictions cannot be corrected, and hit ratios are unknown'
  return warning('cached_tokens', found, evidence.engine.advice.reportCachedTokens)
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
  const counts = countsOf(evidence)
  const times = timesOf(run)
  if (cache.isEnabled === false) return fatal(caching, 'is off, the engine says', switchOnCache)
  if (counts === undefined) {
    const why = `cached tokens are not reported (${times})`
    if (cache.isEnabled) return ok(caching, `is on, the engine says; not measured: ${why}`)
    return warning(caching, `cannot be measured: ${why}`, reportCachedTokens)
  }
  const [first = 0, ...repeats] = counts
  const best = Math.max(...repeats)
  const total = run.first.promptTokens
  if (first > total / 2) {
    const found = `${first} of ${total} tokens of a new prompt are reported as cached: the counts cannot be trusted`
    return warning(caching, found, 'see what is between here and the engine, and what it does to usage')
  }
  if (best === 0) return judgeNoHit(evidence)
  const found = `works: ${best} of ${total} tokens of a repeated prompt were cached (${times})`
  if (repeats[0]! > 0) return ok(caching, found)
  return warning(
    caching,
    `works, but not the first time: there seem to be ${repeats.length} replicas behind this URL (${times})`,
    'give every replica as a separate --engine, without a load balancer in between',
  )
}

function judgeNoHit({ engine, cache, run }: CacheEvidence): Finding {
  const found = `nothing of a repeated prompt of ${run.first.promptTokens} tokens was cached (${timesOf(run)})`
  if (engine.kind === 'openai') {
    const fix = `${engine.advice.switchOnCache}; a provider may cache only longer prompts, or only for some models`
    return warning(caching, found, fix)
  }
  if (cache.pageTokens && cache.pageTokens >= run.first.promptTokens) {
    const fix = smallerSteps(cache) ?? 'send longer prompts'
    return warning(caching, `${found}: a page has ${cache.pageTokens} tokens`, fix)
  }
  if (!cache.isEnabled) return fatal(caching, found, engine.advice.switchOnCache)
  const fix = 'give every replica as a separate --engine, and the engine more memory for its cache'
  return fatal(caching, `${found}, though the engine says that caching is on`, fix)
}

function judgeSalt(evidence: CacheEvidence): Finding | undefined {
  const { engine, run } = evidence
  const counts = countsOf(evidence)
  if (!run.otherSalt || counts === undefined) return undefined
  const best = Math.max(...counts)
  if (best === 0) return undefined
  const foreign = run.otherSalt.cachedTokens ?? 0
  // the chat template's own text at the start may be shared by all
  if (foreign <= Math.max(counts[0]!, best / 2)) return ok('cache_salt', 'honoured: tenants share no cache')
  const found = `ignored: ${foreign} tokens were cached under another salt, so tenants can infer from timing what others sent`
  const fix = `upgrade to a version of ${engine.advice.name} that supports cache_salt, or serve one tenant`
  return warning('cache_salt', found, fix)
}

function timesOf({ first, repeats }: ProbeRun): string {
  const last = repeats.at(-1)
  const repeated = last ? `, repeated ${Math.round(last.milliseconds)} ms` : ''
  return `first ${Math.round(first.milliseconds)} ms${repeated}`
}

/** Says whether a prefix is found only where the engine keeps a checkpoint of it, and what sets these. */
function judgeCheckpoints({ engine, cache, run, replica }: CacheEvidence): Finding | undefined {
  const kept = replica?.mode === 'exact' ? replica.checkpoints : undefined
  const [second = 0, third = 0] = run.sharers.map((probe) => probe?.cachedTokens ?? 0)
  // of full attention the second finds as much as the third
  const isShown = second < third / 2
  if (kept?.borders) {
    const found = `kept of layers with ${kept.kinds!.join('s and ')}s, at multiples of ${kept.unit} tokens; the plugin sets them where documents end`
    return ok('checkpoints', found)
  }
  // without a third that found anything, the prompts were too short to tell
  if (!isShown && (third > 0 || !(kept || cache.hasStates))) return undefined
  const shown = `of three prompts with the same beginning the second found ${second} tokens, the third ${third}`
  const known = 'of prompts with the same beginning the third is the first to find it'
  const alone = cache.isSpeculative ? '; with speculative decoding the plugin sets none where documents end' : ''
  const found = `layers with windows or states keep only checkpoints of a prefix: ${isShown ? shown : known}${alone}`
  const isLoaded = replica?.mode === 'exact' && replica.generation
  const set = isLoaded
    ? "read in the engine's log why the plugin sets none where documents end"
    : "load reprise's plugin, which sets them where documents end"
  const fix = [
    ...(engine.kind === 'vllm' && !cache.isSpeculative ? [set] : []),
    ...(cache.hasStates ? [] : (keepWindows[engine.kind] ?? [])),
  ].join(', or ')
  return warning('checkpoints', found, fix || undefined)
}

const keepWindows: Partial<Record<EngineKind, string[]>> = {
  vllm: ['start vLLM with --prefix-cache-retention-interval and a number of tokens'],
  sglang: ['start SGLang with SGLANG_OPT_UNIFIED_CACHE_FREE_OUT_OF_WINDOW_SLOTS=0 in its environment'],
}
