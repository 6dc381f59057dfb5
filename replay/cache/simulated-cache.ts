import { TreeCache } from './tree-cache.ts'

/** An engine's prefix cache as a replay needs it: one request after the other, prompts only. */
export interface SimulatedCache {
  /** Runs a request; returns its cached tokens. Of a prompt that is larger than the cache, the front stays. */
  serve(request: number, salt: string, tokens: Uint32Array): number
  /** Whether a prompt of so many tokens can be cached as a whole. */
  holds(promptTokens: number): boolean
  /** The requests whose longest cached prefix has changed since the last call, and its length now. */
  takeChanges(): ReadonlyMap<number, number>
}

export const cacheKinds = ['paged', 'radix'] as const
export type CacheKind = (typeof cacheKinds)[number]

export interface CacheOptions {
  readonly kind: CacheKind
  /** may be Infinity */
  readonly capacityTokens: number
  /** of a paged cache; a radix cache shares token by token */
  readonly pageTokens: number
}

export function createCache({ kind, capacityTokens, pageTokens }: CacheOptions): SimulatedCache {
  return new TreeCache(capacityTokens, kind === 'paged' ? pageTokens : 1)
}
