import { askEngine } from './ask-engine.ts'
import type { EngineClient } from './engine-client.ts'

/** What an engine reports about its own prefix cache; undefined: not reported. */
export interface CacheConfig {
  readonly isEnabled?: boolean | undefined
  readonly reportsCachedTokens?: boolean | undefined
  readonly pageTokens?: number | undefined
  readonly capacityTokens?: number | undefined
  /** whether the page size is one that the operator has set, unless the model needs a larger one */
  readonly isPageChosen?: boolean | undefined
  /** tokens: prompts are found to their ends in such steps, also within a page */
  readonly matchTokens?: number | undefined
  /** whether layers keep a state, which sets the least page size */
  readonly hasStates?: boolean | undefined
  readonly isSpeculative?: boolean | undefined
}

/** A page on which an engine describes its cache. */
export interface CacheSource {
  readonly path: string
  readonly read: (text: string) => CacheConfig | undefined
}

/** The page size of an engine's cache, and its capacity if the engine reports it. */
export interface CacheSize {
  /** the cache holds whole pages of this many tokens */
  readonly pageTokens: number
  /** running requests included */
  readonly capacityTokens: number | undefined
}

/** The part of a cache's description that mirrors need; undefined without a page size, or if nothing is cached. */
export function toCacheSize(config: CacheConfig | undefined): CacheSize | undefined {
  if (config?.pageTokens === undefined || config.isEnabled === false) return undefined
  return { pageTokens: config.pageTokens, capacityTokens: config.capacityTokens }
}

/** Reads vLLM's `vllm:cache_config_info` from its metrics; undefined if it is missing. */
export function readVllmCacheConfig(metrics: string): CacheConfig | undefined {
  const line = /^vllm:cache_config_info\{([^\n]{0,16384})\}/m.exec(metrics)?.[1]
  if (line === undefined) return undefined
  const labels = new Map([...line.matchAll(/(\w{1,80})="([^"\\]{0,400})"/g)].map(([, name, value]) => [name, value]))
  const pageTokens = toNumber(labels.get('block_size'))
  const pages = toNumber(labels.get('num_gpu_blocks'))
  // if layers of several kinds share the pages, the product is too large
  const tokens = toNumber(labels.get('kv_cache_size_tokens')) ?? (pageTokens && pages && pageTokens * pages)
  const enabled = labels.get('enable_prefix_caching')?.toLowerCase()
  return {
    isEnabled: enabled === 'true' ? true : enabled === 'false' ? false : undefined,
    pageTokens,
    // both count the first block, which is kept empty
    capacityTokens: pageTokens && tokens && toNumber(tokens - pageTokens),
    isPageChosen: labels.get('user_specified_block_size') === 'True' || undefined,
    matchTokens: toNumber(labels.get('prefix_match_unit')),
    hasStates: labels.get('mamba_cache_mode') === 'align' || undefined,
    isSpeculative: metrics.includes('# HELP vllm:spec_decode_') || undefined,
  }
}

/** Reads SGLang's `/server_info`; undefined if it is something else. */
export function readSglangCacheConfig(serverInfo: unknown): CacheConfig | undefined {
  const info = serverInfo as Record<string, unknown> | null | undefined
  if (typeof info?.disable_radix_cache !== 'boolean' && typeof info?.page_size !== 'number') return undefined
  const [state] = Array.isArray(info.internal_states) ? (info.internal_states as Record<string, unknown>[]) : []
  return {
    isEnabled: typeof info.disable_radix_cache === 'boolean' ? !info.disable_radix_cache : undefined,
    reportsCachedTokens: typeof info.enable_cache_report === 'boolean' ? info.enable_cache_report : undefined,
    pageTokens: toNumber(info.page_size),
    capacityTokens: toNumber(info.max_total_num_tokens) ?? toNumber(state?.max_total_num_tokens),
  }
}

/** Asks an engine for its cache's page size and capacity; undefined if it does not say. Never rejects. */
export async function askCacheSize(
  engine: Pick<EngineClient, 'send'>,
  { cacheSources }: { readonly cacheSources: readonly CacheSource[] },
  { apiKey, signal }: { readonly apiKey?: string | undefined; readonly signal: AbortSignal },
): Promise<CacheSize | undefined> {
  const headers = apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
  for (const { path, read } of cacheSources) {
    const answer = await askEngine(engine, { path, headers }, signal)
    const size = answer?.status === 200 ? toCacheSize(read(answer.text)) : undefined
    if (size) return size
  }
  return undefined
}

function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}
