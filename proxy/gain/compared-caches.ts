import { TreeCache } from '#replay/cache/tree-cache.ts'
import { standInCharacters } from './stand-in-tokens.ts'

/** A prompt as it is sent, and as it would be sent in the other world. */
export interface ComparedPrompt {
  readonly sent: Uint32Array
  readonly other: Uint32Array
  /** only prompts of equal scope share */
  readonly scope: string
  /** the numbers are the engine's own tokens, and no stand-ins */
  readonly isExact: boolean
}

/** What the two caches had of a prompt, in the prompt's own numbers. */
export interface ComparedHit {
  readonly sent: number
  readonly other: number
}

/** What is known of an engine's cache. */
export interface CacheShape {
  /** undefined: not known */
  readonly capacityTokens: number | undefined
  readonly pageTokens: number
}

/** Of a cache whose size is not known, and of the largest that is followed; 4 bytes each. */
const assumedTokens = 4_000_000
const mostTokens = 16_000_000
/** What is assumed of a text until an engine has counted. */
const charactersPerToken = 4

/**
 * Two caches of an engine's capacity and pages: one is given the prompts that the engine gets, the other the same stream
 * as it would be without our work (or with it, where we only watch). Both evict as the engine does, so that what tells
 * them apart is what the work brings. Prompts of stand-in numbers live in caches of their own.
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

  /** The engine has answered a prompt in so many of its tokens: what goes on behind the answer finds that too. */
  answered({ sent, other, scope, isExact }: ComparedPrompt, answerTokens: number): void {
    // of stand-ins nobody knows where an answer ends
    if (!isExact || answerTokens < 1) return
    this.#exact?.[0].answered(scope, sent, answerTokens)
    this.#exact?.[1].answered(scope, other, answerTokens)
  }

  /** The engine has lost all it held. */
  clear(): void {
    this.#exact = undefined
    this.#estimated = undefined
  }

  /** An engine with another cache than before is another engine. */
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
