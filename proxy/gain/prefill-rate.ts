/** Samples needed before a rate is reported. */
const fewest = 8
/** Older samples count less and less: the last hundred requests or so decide. */
const fading = 0.99

/**
 * How fast an engine prefills, measured by its own times to first token: the slope of the least-squares line through
 * seconds over computed tokens, so that the fixed cost of a request plays no part.
 */
export class PrefillRate {
  #count = 0
  #weight = 0
  #tokens = 0
  #seconds = 0
  #squares = 0
  #products = 0

  /**
   * Notes that a request which was alone at its engine took this long to its first token, with this many prompt tokens
   * computed.
   */
  note(computedTokens: number, seconds: number): void {
    this.#count += 1
    this.#weight = fading * this.#weight + 1
    this.#tokens = fading * this.#tokens + computedTokens
    this.#seconds = fading * this.#seconds + seconds
    this.#squares = fading * this.#squares + computedTokens ** 2
    this.#products = fading * this.#products + computedTokens * seconds
  }

  /** Seconds per prompt token; undefined until there are enough samples, or while more tokens do not take longer. */
  get secondsPerToken(): number | undefined {
    if (this.#count < fewest) return undefined
    const spread = this.#weight * this.#squares - this.#tokens ** 2
    const slope = (this.#weight * this.#products - this.#tokens * this.#seconds) / spread
    return spread > 0 && slope > 0 ? slope : undefined
  }
}
