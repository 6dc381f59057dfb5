import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { createEviction } from './eviction/create-eviction.ts'
import type { EvictionName } from './eviction/eviction-names.ts'
import { LedEviction } from './eviction/led-eviction.ts'
import { HostTier } from './host-tier.ts'
import type { HostedCache } from './hosted-cache.ts'
import { LedCache } from './led-cache.ts'
import { NodeHotness } from './node-hotness.ts'
import { TieredCache } from './tiered-cache.ts'

interface CacheOptions {
  /** may be Infinity */
  readonly capacityTokens: number
  readonly pageTokens: number
  /** default: lru */
  readonly eviction?: EvictionName | undefined
  /** capacity of the host memory behind the cache; default: 0, no host */
  readonly hostTokens?: number | undefined
  /** minimum number of requests for admission to the host; 0 admits everything; default: the paper's 10 */
  readonly admission?: number | undefined
  /** how many tokens can be promoted while a request is decoded */
  readonly promotedTokens?: number | undefined
}

/** Another eviction policy takes the lead if it has found 1/16 of the cache size more than the leader. */
const regretShare = 16

export function createCache(options: CacheOptions): HostedCache {
  const { capacityTokens, pageTokens, eviction = 'lru', hostTokens = 0, admission = 10, promotedTokens = 0 } = options
  if (eviction === 'lru' && hostTokens === 0) return new TreeCache(capacityTokens, pageTokens)
  const hotness = new NodeHotness(pageTokens)
  const policy = createEviction(eviction, { capacityTokens, pageTokens, hotness })
  const counts = !usesHotness(eviction)
  const host = { capacityTokens: hostTokens, hotness, counts, leastFrequency: admission, promotedTokens }
  const tier = hostTokens > 0 ? new HostTier(host) : undefined
  const cache = new TieredCache(capacityTokens, pageTokens, policy, tier)
  return policy instanceof LedEviction ? createLed(cache, policy, capacityTokens, pageTokens) : cache
}

function usesHotness(eviction: EvictionName): boolean {
  return eviction.startsWith('hotprefix') || eviction === 'guarded'
}

function createLed(cache: TieredCache, eviction: LedEviction, capacityTokens: number, pageTokens: number): HostedCache {
  const learned = createEviction('hotprefix+', { capacityTokens, pageTokens, hotness: new NodeHotness(pageTokens) })
  const shadows = [new TreeCache(capacityTokens, pageTokens), new TieredCache(capacityTokens, pageTokens, learned)]
  return new LedCache(cache, eviction, shadows, capacityTokens / regretShare)
}
