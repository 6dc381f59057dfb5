import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache, BelievedRequest } from './believed-cache.ts'

/**
 * What a cache must have lost of which nobody reports: an engine evicts what was used longest ago, from its tail. A
 * prompt that finds a prefix holds it too, so those sent longest ago hold by themselves only what nobody used since.
 */
export class AssumedEvictions {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  #ids: Generator<RequestId>
  /** it lost its tail: it comes first when more has to go */
  #halved: RequestId | undefined

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
    this.#ids = cache.requestIds()
  }

  /** Cuts what is believed until it fits. `inWhole`: the engine evicts all at once that a request holds by itself. */
  fit(capacityTokens: number, inWhole = false): void {
    // once around is enough: what has nothing of its own is let go of on the way
    let rounds = 0
    while (this.#cache.heldTokens > capacityTokens && rounds < 2) {
      const oldest = this.#takeOldest()
      if (oldest) this.#shorten(oldest, inWhole ? Number.POSITIVE_INFINITY : this.#cache.heldTokens - capacityTokens)
      else {
        rounds += 1
        this.#ids = this.#cache.requestIds()
      }
    }
  }

  /** It is not asked any more. */
  close(): void {
    this.#ids.return(undefined)
  }

  #shorten(held: BelievedRequest, surplus: number): void {
    const { request, cachedLength, tokensPerCharacter } = held
    const own = (cachedLength - this.#cache.sharedLengthOf(held)) * tokensPerCharacter
    const cachedTokens = own > surplus ? Math.floor(cachedLength * tokensPerCharacter - surplus) : 0
    this.#cut({ type: 'evicted', request, cachedTokens })
    if (cachedTokens > 0) this.#halved = request
  }

  #takeOldest(): BelievedRequest | undefined {
    const halved = this.#halved && this.#cache.heldOf(this.#halved)
    this.#halved = undefined
    if (halved) return halved
    for (let next = this.#ids.next(); !next.done; next = this.#ids.next()) {
      const held = this.#cache.heldOf(next.value)
      if (held) return held
    }
    return undefined
  }
}
