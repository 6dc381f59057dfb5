import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { type CacheConfig, readSglangCacheConfig, readVllmCacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { type EngineConnection, isGood, type Reply } from '../../engine-connection.ts'
import { type Finding, fatal, ok, warning } from '../finding.ts'
import type { ServedModel } from './check-models.ts'
import { judgeReuse, judgeStore, type ReuseCounts, readReuseCounts } from './reuse-counts.ts'

/** What an engine reports about how it was started, except its cache; undefined: not reported. */
interface EngineFacts {
  /** caches behind this URL, one for each data-parallel rank */
  readonly caches?: number | undefined
  /** SGLang's radix cache backend; null: its own */
  readonly cacheBackend?: string | null | undefined
  /** flags with which SGLang's plugin reports nothing */
  readonly silencing?: readonly string[] | undefined
  /** where SGLang publishes its events; undefined: nowhere */
  readonly publisher?: EventPublisher | undefined
  /** flags or names of tiers that keep or take over blocks outside the GPU's cache */
  readonly otherTiers?: readonly string[] | undefined
  /** undefined: no plugin has counted any request with regard to reuse at any position */
  readonly reuse?: ReuseCounts | undefined
}

/** The ports of the first rank. */
interface EventPublisher {
  readonly port: number
  readonly replayPort: number | undefined
}

/** Reads vLLM's metrics: one line for the cache of every rank, and counts of reuse once a request has used it. */
export function readVllmFacts(metrics: string): EngineFacts {
  const ranks = [...metrics.matchAll(/^vllm:cache_config_info\{[^\n]{0,16384}?\bengine="(\d{1,6})"/gm)]
  return {
    caches: new Set(ranks.map(([, rank]) => rank)).size || undefined,
    otherTiers: namesIn(vllmTiers, (prefix) => metrics.includes(`# HELP ${prefix}`)),
    reuse: readReuseCounts(metrics),
  }
}

/** Reads SGLang's `/server_info`, and its metrics if it has any. */
export function readSglangFacts(info: Readonly<Record<string, unknown>> | undefined, metrics = ''): EngineFacts {
  if (!info) return {}
  const { dp_size: ranks, radix_cache_backend: backend } = info
  const caches = typeof ranks === 'number' ? ranks : undefined
  const isOn = (flag: string): boolean => info[flag] === true
  return {
    caches,
    cacheBackend: typeof backend === 'string' || backend === null ? backend : undefined,
    silencing: [
      ...(namesIn(silencingFlags, isOn) ?? []),
      ...(caches !== undefined && caches > 1 ? [`--dp-size ${caches}`] : []),
    ],
    publisher: publisherOf(info.kv_events),
    otherTiers: namesIn(sglangTiers, isOn),
    reuse: readReuseCounts(metrics),
  }
}

/** vLLM's connectors with a tier, by the metrics that only they have. */
const vllmTiers = {
  'vllm:kv_offload_': 'OffloadingConnector',
  'vllm:mooncake_store_': 'MooncakeStoreConnector',
  'lmcache:': 'LMCache',
}

const sglangTiers = {
  enable_hierarchical_cache: '--enable-hierarchical-cache',
  enable_lmcache: '--enable-lmcache',
  enable_flexkv: '--enable-flexkv',
}

const cacheOff = '--disable-radix-cache'

/** Flags with which there is no cache, or it is not the one that the plugin observes. */
const silencingFlags = {
  disable_radix_cache: cacheOff,
  enable_lmcache: sglangTiers.enable_lmcache,
  enable_flexkv: sglangTiers.enable_flexkv,
  enable_unified_cache_external_linker: '--enable-unified-cache-external-linker',
}

/** The names of what is there; undefined if nothing is. */
function namesIn(names: Readonly<Record<string, string>>, isThere: (key: string) => boolean): string[] | undefined {
  const found = Object.entries(names).flatMap(([key, name]) => (isThere(key) ? [name] : []))
  return found.length === 0 ? undefined : found
}

function publisherOf(events: unknown): EventPublisher | undefined {
  const { endpoint_port_base: port, replay_endpoint_port_base: replay } = (events ?? {}) as Record<string, unknown>
  if (typeof port !== 'number') return undefined
  return { port, replayPort: typeof replay === 'number' ? replay : undefined }
}

/** How to write a publisher's addresses in `--engine`. */
export function writeEvents({ port, replayPort }: EventPublisher): string {
  return `events=tcp://HOST:${port}${replayPort === undefined ? '' : `,replay=tcp://HOST:${replayPort}`}`
}

/** Judges how the engine was started: whether something prevents reports that are exact for one replica. */
export function judgeFacts(
  kind: EngineKind,
  facts: EngineFacts,
  { events }: Pick<EngineSettings, 'events'>,
): Finding[] {
  const { caches = 1, otherTiers, reuse } = facts
  const ranks = `${caches} data-parallel ranks, each with its own cache, answer at this URL: the engine chooses which one gets a request, and no plugin reports them`
  const tiers = `${otherTiers?.join(' ')}: of tiers besides the GPU, predictions know what the engine's own events (events=) report; nothing is routed by it`
  return [
    caches > 1 ? warning('replicas', ranks, adapterFor(kind).advice.separateRanks) : undefined,
    otherTiers && ok('tiers', tiers),
    judgeReports(facts, events),
    reuse && judgeReuse(reuse),
    reuse && judgeStore(reuse),
  ].filter((finding) => finding !== undefined)
}

/** Judges what SGLang says about its reports: without any, what it holds is guessed. */
function judgeReports(
  { cacheBackend, silencing = [], publisher }: EngineFacts,
  events: string | undefined,
): Finding | undefined {
  const say = (level: typeof ok, found: string, fix?: string): Finding => level('reports', found, fix)
  const without = (flags: readonly string[]): string => `start SGLang without ${flags.join(', ')}`
  if (cacheBackend === undefined) return undefined
  // only the proxy's mirror shows whether the plugin was also configured where to report
  const flag = '(--radix-cache-backend reprise)'
  const plugin = cacheBackend === 'reprise' ? `by the plugin ${flag}` : undefined
  if (plugin && silencing.length > 0) {
    const found = `the plugin is switched on ${flag}, and reports nothing with ${silencing.join(', ')}`
    return say(warning, found, without(silencing))
  }
  if (plugin && events === undefined) return say(ok, plugin)
  if (plugin && !publisher)
    return say(warning, `${plugin}; events= is given, and SGLang publishes none`, 'leave events= and replay= out')
  if (plugin) {
    const fix = 'leave events= out, or start SGLang without --radix-cache-backend reprise'
    return say(warning, `${plugin}, and by its events as well: one of the two is enough`, fix)
  }
  if (silencing.includes(cacheOff))
    return say(warning, `there is nothing to report with ${cacheOff}`, without([cacheOff]))
  if (publisher && events === undefined)
    return say(warning, 'SGLang publishes events that are not read', `add ,${writeEvents(publisher)} to --engine`)
  if (publisher) return say(ok, 'by its own events (--kv-events-config)')
  return say(
    warning,
    'SGLang was told neither to use the plugin nor to publish events: what it holds is guessed',
    'install the plugin and start SGLang with --radix-cache-backend reprise, or with --kv-events-config (docs/engines.md)',
  )
}

/** What kind of engine is at a URL. */
export interface EngineIdentity {
  /** undefined: some other engine */
  readonly kind: Exclude<EngineKind, 'openai'> | undefined
  readonly name: string
  readonly cache: CacheConfig
  readonly facts: EngineFacts
}

/** Identifies an engine by what only its kind answers, and reads what it reports about its cache. */
export async function identifyEngine(
  connection: EngineConnection,
  models: readonly ServedModel[],
): Promise<EngineIdentity> {
  const paths = ['/version', '/metrics', '/server_info', '/get_server_info', '/get_model_info']
  const replies = await Promise.all(paths.map((path) => connection.get(path)))
  const [version, metrics, ...infos] = replies as [Reply, Reply, ...Reply[]]
  const info = infos.map(jsonOf).find((json) => readSglangCacheConfig(json) !== undefined)
  const owner = models[0]?.owned_by
  const sglang = readSglangCacheConfig(info)
  if (owner === 'sglang' || sglang || typeof jsonOf(infos[2]!)?.model_path === 'string') {
    const facts = readSglangFacts(info, isGood(metrics) ? metrics.text : '')
    return { kind: 'sglang', name: nameOf('SGLang', info?.version), cache: sglang ?? {}, facts }
  }
  const vllm = isGood(metrics) ? readVllmCacheConfig(metrics.text) : undefined
  const number = jsonOf(version)?.version
  if (owner === 'vllm' || vllm || typeof number === 'string') {
    const facts = isGood(metrics) ? readVllmFacts(metrics.text) : {}
    return { kind: 'vllm', name: nameOf('vLLM', number), cache: vllm ?? {}, facts }
  }
  return { kind: undefined, name: 'an OpenAI-compatible engine', cache: {}, facts: {} }
}

/** Compares the given kind with what the engine is. */
export function judgeKind(given: EngineKind | undefined, { kind, name }: EngineIdentity): Finding {
  if (kind === given || (kind === undefined && (given ?? 'openai') === 'openai')) return ok('kind', name)
  if (kind === undefined) {
    const found = `${name}: nothing says that it is kind=${given}`
    return warning('kind', found, "give kind=openai, unless you know that it accepts 'cache_salt'")
  }
  const fix = `write --engine URL,kind=${kind}`
  if (given !== undefined && given !== 'openai') return fatal('kind', `${name}, not kind=${given}`, fix)
  const found = `${name}, served as kind=openai: no cache_salt keeps tenants apart, and its reports cannot be tied to requests`
  return warning('kind', found, fix)
}

function nameOf(engine: string, version: unknown): string {
  if (typeof version !== 'string') return engine
  return version === 'reprise-emulator' ? `the emulator of reprise, as ${engine}` : `${engine} ${version.slice(0, 60)}`
}

function jsonOf(reply: Reply): Record<string, unknown> | undefined {
  const json = isGood(reply) ? reply.json : undefined
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
}
