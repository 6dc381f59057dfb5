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

/** What is known about an engine's cache. */
export interface CacheShape {
  /** undefined: not known */
  readonly capacityTokens: number | undefined
  readonly pageTokens: number
}

/** The size that is assumed if a cache's is not known, and the largest that is followed; 4 bytes per token. */
const assumedTokens = 4_000_000
const mostTokens = 16_000_000
/** The density of text that is assumed until an engine has counted. */
const charactersPerToken = 4

/**
 * Two caches with an engine's capacity and pages. One is given the prompts that the engine gets, the other the same
 * stream as it would be without our work (or with it, if we only watch). Both evict as the engine does, so that the
 * difference between them is what our work gains. Prompts of stand-in numbers have separate caches.
 */
export class ComparedCaches {
  #shape: CacheShape | undefined
  #exact: readonly [TreeCache, TreeCache] | undefined
  #estimated: readonly [TreeCache, TreeCache] | undefined

  /** Runs the next prompt. Bounded by the capacity; O(tokens). */
  serve({ sent, other, scope, isExact }: ComparedPrompt, shape: CacheShape): ComparedHit {
    this.#fit(shape)
    const [real, counterfactual] = isExact ? this.#exactPair(shape) : this.#estimatedPair(shape)
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
  #fit(shape: CacheShape): void {
    const before = this.#shape
    this.#shape = shape
    if (before && (before.capacityTokens !== shape.capacityTokens || before.pageTokens !== shape.pageTokens)) {
      this.clear()
    }
  }

  #exactPair({ capacityTokens = assumedTokens, pageTokens }: CacheShape): readonly [TreeCache, TreeCache] {
    const capacity = Math.min(capacityTokens, mostTokens)
    this.#exact ??= [new TreeCache(capacity, pageTokens), new TreeCache(capacity, pageTokens)]
    return this.#exact
  }

  #estimatedPair({ capacityTokens = assumedTokens, pageTokens }: CacheShape): readonly [TreeCache, TreeCache] {
    const toStandIns = (tokens: number): number => Math.floor((tokens * charactersPerToken) / standInCharacters)
    const [capacity, page] = [toStandIns(Math.min(capacityTokens, mostTokens)), Math.max(1, toStandIns(pageTokens))]
    this.#estimated ??= [new TreeCache(capacity, page), new TreeCache(capacity, page)]
    return this.#estimated
  }
}
