/** What an engine says of its own prefix cache; undefined is what it does not say. */
export interface CacheConfig {
  readonly isEnabled?: boolean | undefined
  readonly reportsCachedTokens?: boolean | undefined
  readonly pageTokens?: number | undefined
  readonly capacityTokens?: number | undefined
}

/** How large the pages of an engine's cache are, and how much it holds, where it says so. */
export interface CacheSize {
  /** what is cached is cached in whole pages of so many tokens */
  readonly pageTokens: number
  /** running requests included */
  readonly capacityTokens: number | undefined
}

/** What mirrors need of an engine's description of its cache; undefined without a page size, or where it caches nothing. */
export function toCacheSize(config: CacheConfig | undefined): CacheSize | undefined {
  if (config?.pageTokens === undefined || config.isEnabled === false) return undefined
  return { pageTokens: config.pageTokens, capacityTokens: config.capacityTokens }
}

/** Reads vLLM's `vllm:cache_config_info` out of its metrics; undefined when it is not there. */
export function readVllmCacheConfig(metrics: string): CacheConfig | undefined {
  const line = /^vllm:cache_config_info\{([^\n]{0,16384})\}/m.exec(metrics)?.[1]
  if (line === undefined) return undefined
  const labels = new Map([...line.matchAll(/(\w{1,80})="([^"\\]{0,400})"/g)].map(([, name, value]) => [name, value]))
  const pageTokens = toNumber(labels.get('block_size'))
  const pages = toNumber(labels.get('num_gpu_blocks'))
  // layers of several kinds share the pages: then the product says too much
  const tokens = toNumber(labels.get('kv_cache_size_tokens')) ?? (pageTokens && pages && pageTokens * pages)
  const enabled = labels.get('enable_prefix_caching')?.toLowerCase()
  return {
    isEnabled: enabled === 'true' ? true : enabled === 'false' ? false : undefined,
    pageTokens,
    // both count the first block, which is kept empty
    capacityTokens: pageTokens && tokens && toNumber(tokens - pageTokens),
  }
}

/** Reads SGLang's `/server_info`; undefined when it is something else. */
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

function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}
