import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineAdapter, EngineKind } from '#engine-adapters/engine-adapter.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import { readEngineError } from '#engine-adapters/read-error.ts'
import { guessApi } from '#proxy/prompt/formats/read-prompt-body.ts'
import type { EngineConnection, Reply } from '../../engine-connection.ts'
import type { MirroredReplica } from '../check-proxy.ts'
import { contextLengthOf, type ServedModel } from '../engine/check-models.ts'
import { askTokens } from '../engine/check-token-endpoint.ts'
import { type DoctorOptions, type Finding, fatal, ok, warning } from '../finding.ts'
import { type ProbedEngine, type ProbeRun, probePrefixCache } from './probe-prefix-cache.ts'

/** Providers cache prompts of 1,024 tokens or more, and checkpoints show behind a window of as many. */
const probeTokens = 1200

/** Sends a new prompt several times and judges what the engine reports about it. */
export async function checkPrefixCache(
  connection: EngineConnection,
  { kind, isSalted, model, cache, replica }: ProbedEngine,
): Promise<Finding[]> {
  const engine = adapterFor(kind)
  // a few pages, but at most a third of the model's context length
  const wanted = Math.max(probeTokens, 3 * (cache.pageTokens ?? 0))
  const words = Math.min(wanted, Math.floor((contextLengthOf(model) ?? 131_072) / 3))
  const run = await probePrefixCache(connection, { model: model.id, words, isSalted })
  if (!('first' in run)) {
    return [(await servesEmbeddings(connection, model, run)) ? embeds : judgeRefusal(run, isSalted)]
  }
  return judgePrefixCache({ engine, cache, run, replica })
}

const embeds = ok(
  'prefix_caching',
  'it serves embeddings and no chats: there is no prefix to cache, and known chunks are learnt from its requests',
)

/** Whether an engine that knows no chats embeds texts, as one beside chats may. */
async function servesEmbeddings(connection: EngineConnection, { id }: ServedModel, refused: Reply): Promise<boolean> {
  if (refused.status !== 404 && refused.status !== 400) return false
  const reply = await connection.post('/v1/embeddings', { model: id, input: 'A short text.' })
  return reply.status === 200
}

function judgeRefusal(reply: Reply, isSalted: boolean): Finding {
  if (reply.status === 0) {
    const fix = 'send the engine a request by hand; a slow one needs --timeout-seconds'
    return fatal('prefix_caching', `a chat completion got no answer: ${reply.text}`, fix)
  }
  const why = readEngineError(reply.text)?.message ?? reply.text
  const found = `a chat completion is answered with ${reply.status}: ${excerptOf(why)}`
  const fix =
    /cache_salt/.test(reply.text) && isSalted
      ? 'write --engine URL,kind=openai: then no cache_salt is added'
      : 'mend what the answer names; --model chooses another model'
  return fatal('prefix_caching', found, fix)
}

function excerptOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

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
  const { engine, cache, run } = evidence
  const [first, ...repeats] = [run.first, ...run.repeats].map(({ cachedTokens }) => cachedTokens)
  const isSilentZero = engine.omitsZeroCached && cache.reportsCachedTokens === true
  const isReported = isSilentZero || [first, ...repeats].some((count) => count !== undefined)
  const unreported = 'not reported in usage: predictions cannot be corrected, and hit ratios are unknown'
  const counts = { first: first ?? 0, repeats: repeats.map((count) => count ?? 0) }
  return [
    isReported
      ? ok('cached_tokens', 'reported in usage')
      : warning('cached_tokens', unreported, engine.advice.reportCachedTokens),
    judgeCaching(evidence, isReported ? counts : undefined),
    isReported ? judgeSalt(evidence, counts) : undefined,
    judgePageSize(cache),
    judgeCheckpoints(evidence),
  ].filter((finding) => finding !== undefined)
}

/** Cached tokens of the first probe and of its repeats. */
interface Counts {
  readonly first: number
  readonly repeats: readonly number[]
}

function judgeCaching({ engine, cache, run }: CacheEvidence, counts: Counts | undefined): Finding {
  const { switchOnCache, reportCachedTokens } = engine.advice
  const [ms, last] = [run.first, run.repeats.at(-1)].map((probe) => probe && Math.round(probe.milliseconds))
  const times = `first ${ms} ms${last === undefined ? '' : `, repeated ${last} ms`}`
  if (cache.isEnabled === false) return fatal(caching, 'is off, the engine says', switchOnCache)
  if (!counts) {
    const why = `cached tokens are not reported (${times})`
    if (cache.isEnabled) return ok(caching, `is on, the engine says; not measured: ${why}`)
    return warning(caching, `cannot be measured: ${why}`, reportCachedTokens)
  }
  const { first, repeats } = counts
  const best = Math.max(...repeats)
  const total = run.first.promptTokens
  if (first > total / 2) {
    const found = `${first} of ${total} tokens of a new prompt are reported as cached: the counts cannot be trusted`
    return warning(caching, found, 'see what is between here and the engine, and what it does to usage')
  }
  if (best === 0) {
    const found = `nothing of a repeated prompt of ${total} tokens was cached (${times})`
    return judgeNoHit(engine, cache, found, total)
  }
  const found = `works: ${best} of ${total} tokens of a repeated prompt were cached (${times})`
  if (repeats[0]! > 0) return ok(caching, found)
  return warning(
    caching,
    `works, but not the first time: there seem to be ${repeats.length} replicas behind this URL (${times})`,
    'give every replica as a separate --engine, without a load balancer in between',
  )
}

function judgeNoHit({ kind, advice }: EngineAdapter, cache: CacheConfig, found: string, tokens: number): Finding {
  if (kind === 'openai') {
    const fix = `${advice.switchOnCache}; a provider may cache only longer prompts, or only for some models`
    return warning(caching, found, fix)
  }
  if (cache.pageTokens && cache.pageTokens >= tokens) {
    const fix = smallerSteps(cache) ?? 'send longer prompts'
    return warning(caching, `${found}: a page has ${cache.pageTokens} tokens`, fix)
  }
  if (!cache.isEnabled) return fatal(caching, found, advice.switchOnCache)
  const fix = 'give every replica as a separate --engine, and the engine more memory for its cache'
  return fatal(caching, `${found}, though the engine says that caching is on`, fix)
}

function judgeSalt({ engine, run }: CacheEvidence, { first, repeats }: Counts): Finding | undefined {
  const best = Math.max(first, ...repeats)
  if (!run.otherSalt || best === 0) return undefined
  const foreign = run.otherSalt.cachedTokens ?? 0
  // the chat template's own text at the start may be shared by all
  if (foreign <= Math.max(first, best / 2)) return ok('cache_salt', 'honoured: tenants share no cache')
  const found = `ignored: ${foreign} tokens were cached under another salt, so tenants can infer from timing what others sent`
  const fix = `upgrade to a version of ${engine.advice.name} that supports cache_salt, or serve one tenant`
  return warning('cache_salt', found, fix)
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

/** With larger pages than this, much of a context may be after the last full page. */
const largePage = 256

/** Reports the page size that the engine states; undefined if it does not. */
function judgePageSize(cache: CacheConfig): Finding | undefined {
  const { pageTokens: size, capacityTokens, matchTokens } = cache
  if (size === undefined) return undefined
  const room = capacityTokens ? `, room for ${capacityTokens.toLocaleString('en-US')} tokens` : ''
  const found = `${size} ${size === 1 ? 'token' : 'tokens'}${room}`
  if (size <= largePage) return ok('page_size', found)
  const ends = matchTokens ? `; prompts are found to their ends in steps of ${matchTokens}` : ''
  const cause = cache.hasStates && !cache.isPageChosen ? ", set by the size of the model's states" : ''
  const fix = smallerSteps(cache)
  return (fix ? warning : ok)('page_size', `${found}${cause}${ends}`, fix)
}

/** What makes the engine find more of a prompt than whole pages of this size; undefined if nothing does. */
function smallerSteps(cache: CacheConfig): string | undefined {
  const { isPageChosen, matchTokens, pageTokens = 0 } = cache
  if (!cache.hasStates)
    return 'choose smaller pages (vLLM: --block-size, SGLang: --page-size): only full pages are shared'
  // a state is as large as many tokens of full attention, which sets the least size of vLLM's blocks
  const chosen = 'start vLLM without --block-size: its blocks are then the smallest that hold a state of the model'
  if (matchTokens) return isPageChosen ? chosen : undefined
  // it must divide the blocks, which are multiples of 16
  const match = `start vLLM with --prefix-match-unit ${pageTokens % 32 === 0 ? 32 : 16}: prompts are then found to their ends, but shared beginnings only in whole blocks`
  return isPageChosen ? `${chosen}, or ${match}` : match
}

/** Asks the engine how long a prompt is, and warns of one that fills no page of its cache. Empty if it does not say. */
export async function checkPromptLength(
  connection: EngineConnection,
  { file, json }: NonNullable<DoctorOptions['prompt']>,
  { kind, model, cache }: ProbedEngine,
): Promise<Finding[]> {
  const members = tryObject(json.replace(/^\uFEFF/, ''))
  if (!members || !cache.pageTokens) return []
  const { tokens } = await askTokens(connection, kind, guessApi(members), { ...members, model: model.id })
  return tokens ? judgePromptLength(file, tokens.length, cache) : []
}

/** Warns of a prompt that fills no page. */
export function judgePromptLength(file: string, tokens: number, cache: CacheConfig): Finding[] {
  const { pageTokens = 0, matchTokens } = cache
  // the last token is always computed
  if (tokens > pageTokens) return []
  const rest = matchTokens
    ? `only prompts that go on from its end find it, in steps of ${matchTokens}`
    : 'nothing of it is found again'
  const found = `${file}: its ${tokens} tokens fill no block of the engine's cache (${pageTokens}): ${rest}`
  return [warning('prompt_length', found, smallerSteps(cache) ?? 'none is known; longer prompts are found')]
}
