import type { CacheSize } from '#engine-adapters/cache-config.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { PrefillRate } from './prefill-rate.ts'
import { standInCharacters } from './stand-in-tokens.ts'

/** A prompt as it is sent, and as it would be sent in the other world. */
export interface ComparedPrompt {
  readonly sent: Uint32Array
  readonly other: Uint32Array
  /** only prompts with the same scope share */
  readonly scope: string
  /** the numbers are the engine's own tokens, not stand-ins */
  readonly isExact: boolean
}

/** How much of a prompt the two caches held, in the prompt's own numbers. */
export interface ComparedHit {
  readonly sent: number
  readonly other: number
}

/** The size that is assumed if a cache's is not known, and the largest that is followed; 4 bytes per token. */
const assumedTokens = 4_000_000
const mostTokens = 16_000_000
/** The density of text that is assumed until an engine has counted. */
const charactersPerToken = 4
/** How many requests may wait for their tokens; further ones are not followed, so that memory is bounded. */
const mostWaiting = 256

type CachePair = readonly [TreeCache, TreeCache]

/**
 * The two worlds of one replica: two caches with its engine's capacity and pages. One is given the prompts that the
 * engine gets, the other the same stream as it would be without our work (or with it, if we only watch). Both evict as
 * the engine does, so that the difference between them is what our work gains. Prompts of stand-in numbers have separate
 * caches.
 */
export class ReplicaWorlds {
  readonly rate: PrefillRate = new PrefillRate()
  #shape: CacheSize | undefined
  /** by whether they hold the engine's own tokens */
  readonly #caches = new Map<boolean, CachePair>()
  /** the request that was sent last */
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /**
   * Runs the prompts of a request that is sent now, once they are known and all that were sent before have run. Resolves
   * to what the two caches hold of them; undefined if they cannot be known. Returns undefined if too many requests wait.
   */
  follow(
    find: () => Promise<readonly ComparedPrompt[] | undefined>,
    shape: () => CacheSize,
  ): Promise<ComparedHit | undefined> | undefined {
    if (this.#waiting >= mostWaiting) return undefined
    this.#waiting += 1
    const found = find().catch(() => undefined)
    const hit = Promise.all([found, this.#last])
      .then(([prompts]) => prompts && this.#serveAll(prompts, shape()))
      // a fault of ours: the request is left out
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1
      })
    this.#last = hit
    return hit
  }

  /**
   * Notes that the engine answered a prompt with this many of its tokens: a prompt that continues the answer finds
   * those too.
   */
  answered({ sent, other, scope, isExact }: ComparedPrompt, answerTokens: number): void {
    // with stand-ins it is unknown where an answer ends
    if (!isExact || answerTokens < 1) return
    const [real, counterfactual] = this.#caches.get(true) ?? []
    real?.answered(scope, sent, answerTokens)
    counterfactual?.answered(scope, other, answerTokens)
  }

  /** Forgets everything, because the engine has lost all it held. */
  clear(): void {
    this.#caches.clear()
  }

  /** Bounded by the capacity; O(tokens). */
  #serveAll(prompts: readonly ComparedPrompt[], shape: CacheSize): ComparedHit {
    this.#fit(shape)
    const all = { sent: 0, other: 0 }
    for (const { sent, other, scope, isExact } of prompts) {
      const tokensEach = isExact ? 1 : standInCharacters / charactersPerToken
      const [real, counterfactual] = getOrMake(this.#caches, isExact, () => createPair(shape, tokensEach))
      all.sent += real.serve(undefined, scope, sent)
      all.other += counterfactual.serve(undefined, scope, other)
    }
    return all
  }

  /** Starts over if the engine's cache has changed: it is another engine then. */
  #fit(shape: CacheSize): void {
    const before = this.#shape
    this.#shape = shape
    if (before && (before.capacityTokens !== shape.capacityTokens || before.pageTokens !== shape.pageTokens)) {
      this.clear()
    }
  }
}

/** Creates two caches of numbers that stand for so many tokens each. */
function createPair({ capacityTokens = assumedTokens, pageTokens }: CacheSize, tokensEach: number): CachePair {
  const capacity = Math.floor(Math.min(capacityTokens, mostTokens) / tokensEach)
  const page = Math.max(1, Math.floor(pageTokens / tokensEach))
  return [new TreeCache(capacity, page), new TreeCache(capacity, page)]
}
