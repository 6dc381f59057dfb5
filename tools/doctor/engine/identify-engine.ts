import { type CacheConfig, readSglangCacheConfig, readVllmCacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { type EngineConnection, isGood, type Reply } from '../../engine-connection.ts'
import { type Finding, fatal, ok, warning } from '../finding.ts'
import type { ServedModel } from './check-models.ts'
import { type EngineFacts, readSglangFacts, readVllmFacts } from './engine-facts.ts'

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
