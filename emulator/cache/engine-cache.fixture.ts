import type { TreeCache } from '#index/tree-cache/tree-cache.ts'
import type { PrefixCache } from './prefix-cache.ts'

/** A prefix cache of the engine emulator, serving one request at a time. */
export class EngineCache implements Pick<TreeCache, 'serve' | 'takeChanges'> {
  readonly #cache: PrefixCache

  constructor(cache: PrefixCache) {
    this.#cache = cache
  }

  serve(request: number, salt: string, tokens: Uint32Array): number {
    const sequence = this.#cache.open({ requestId: String(request), salt, tokens, promptTokens: tokens.length })
    // nothing else is running, so a prompt that cannot be admitted now never can be
    if (!sequence.acquire()) throw new Error('an engine refuses a prompt that is larger than its cache')
    sequence.computed(tokens.length)
    sequence.release(tokens.length)
    return sequence.cachedTokens
  }

  takeChanges(): ReadonlyMap<number, number> {
    const changes = new Map<number, number>()
    for (const report of this.#cache.takeReports()) {
      if (report.type !== 'cleared') changes.set(Number(report.request_id), report.cached_tokens)
    }
    return changes
  }
}
