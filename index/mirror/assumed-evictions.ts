import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache, BelievedRequest } from './believed-cache.ts'

/**
 * Assumed evictions of an engine that reports none. An engine evicts the least recently used content, from its tail. A
 * prompt that finds a prefix holds it too, so the oldest requests alone hold only what nobody has used since.
 */
export class AssumedEvictions {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  #ids: Generator<RequestId>
  /** request that lost its tail; it is cut first when more has to go */
  #halved: RequestId | undefined

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
    this.#ids = cache.requestIds()
  }

  /** Cuts beliefs until they fit. `inWhole`: the engine evicts everything that only one request holds at once. */
  fit(capacityTokens: number, inWhole = false): void {
    // one round is enough: requests that hold nothing alone are dropped on the way
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

  /** Releases the iterator; do not use this object afterwards. */
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
