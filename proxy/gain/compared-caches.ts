import type { CacheSize } from '#engine-adapters/cache-config.ts'
import { TreeCache } from '#index/tree-cache/tree-cache.ts'
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

type CachePair = readonly [TreeCache, TreeCache]

/**
 * Two caches with an engine's capacity and pages. One is given the prompts that the engine gets, the other the same
 * stream as it would be without our work (or with it, if we only watch). Both evict as the engine does, so that the
 * difference between them is what our work gains. Prompts of stand-in numbers have separate caches.
 */
export class ComparedCaches {
  #shape: CacheSize | undefined
  #exact: CachePair | undefined
  #estimated: CachePair | undefined

  /** Runs the next prompt. Bounded by the capacity; O(tokens). */
  serve({ sent, other, scope, isExact }: ComparedPrompt, shape: CacheSize): ComparedHit {
    this.#fit(shape)
    if (isExact) this.#exact ??= createPair(shape, 1)
    else this.#estimated ??= createPair(shape, standInCharacters / charactersPerToken)
    const [real, counterfactual] = (isExact ? this.#exact : this.#estimated)!
    return {
      sent: real.serve(undefined, scope, sent),
      other: counterfactual.serve(undefined, scope, other),
    }
  }

  /**
   * Notes that the engine answered a prompt with this many of its tokens: a prompt that continues the answer finds
   * those too.
   */
  answered({ sent, other, scope, isExact }: ComparedPrompt, answerTokens: number): void {
    // with stand-ins it is unknown where an answer ends
    if (!isExact || answerTokens < 1) return
    this.#exact?.[0].answered(scope, sent, answerTokens)
    this.#exact?.[1].answered(scope, other, answerTokens)
  }

  /** Forgets everything, because the engine has lost all it held. */
  clear(): void {
    this.#exact = undefined
    this.#estimated = undefined
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
