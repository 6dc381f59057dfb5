import type { LedEviction } from './eviction/led-eviction.ts'
import type { HostFigures } from './host-tier.ts'
import type { HostedCache } from './hosted-cache.ts'
import type { TieredCache } from './tiered-cache.ts'

/**
 * A cache that follows the eviction policy that would have found the most. Each policy also runs its own shadow cache
 * without contents. Another policy takes the lead if, since it was last behind, it has found more than the leader by a
 * share of the cache size. That much may be lost at a switch, because the cache holds what the leader chose to keep.
 */
export class LedCache implements HostedCache {
  readonly #cache: TieredCache
  readonly #eviction: LedEviction
  readonly #shadows: readonly HostedCache[]
  readonly #mostRegret: number
  /** by shadow: by how many tokens it is ahead of the leader; never below 0, so a lag is forgotten */
  readonly #regrets: number[]

  constructor(cache: TieredCache, eviction: LedEviction, shadows: readonly HostedCache[], mostRegret: number) {
    this.#cache = cache
    this.#eviction = eviction
    this.#shadows = shadows
    this.#mostRegret = mostRegret
    this.#regrets = shadows.map(() => 0)
  }

  serve(request: number, salt: string, tokens: Uint32Array, promptTokens: number = tokens.length): number {
    const found = this.#shadows.map((shadow) => {
      const cached = shadow.serve(request, salt, tokens, promptTokens)
      shadow.takeChanges()
      return cached
    })
    this.#judge(found)
    return this.#cache.serve(request, salt, tokens, promptTokens)
  }

  holds(promptTokens: number): boolean {
    return this.#cache.holds(promptTokens)
  }

  takeChanges(): ReadonlyMap<number, number> {
    return this.#cache.takeChanges()
  }

  get hostFigures(): HostFigures | undefined {
    return this.#cache.hostFigures
  }

  #judge(found: readonly number[]): void {
    const own = found[this.#eviction.leader]!
    let next = this.#eviction.leader
    for (const [at, cached] of found.entries()) {
      this.#regrets[at] = Math.max(0, this.#regrets[at]! + cached - own)
      if (this.#regrets[at]! > Math.max(this.#mostRegret, this.#regrets[next]!)) next = at
    }
    if (next === this.#eviction.leader) return
    this.#eviction.leader = next
    this.#regrets.fill(0)
  }
}
