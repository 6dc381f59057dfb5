/** Samples before a rate is told. */
const fewest = 8
/** What is older counts ever less: the last hundred requests or so decide. */
const fading = 0.99

/**
 * How fast an engine prefills, measured by its own times to first token: the slope of the line of least squares through
 * seconds over tokens computed, so that what every request costs has no part in it.
 */
export class PrefillRate {
  #count = 0
  #weight = 0
  #tokens = 0
  #seconds = 0
  #squares = 0
  #products = 0

  /** A request that was alone at its engine computed so many prompt tokens until its first token. */
  note(computedTokens: number, seconds: number): void {
    this.#count += 1
    this.#weight = fading * this.#weight + 1
    this.#tokens = fading * this.#tokens + computedTokens
    this.#seconds = fading * this.#seconds + seconds
    this.#squares = fading * this.#squares + computedTokens ** 2
    this.#products = fading * this.#products + computedTokens * seconds
  }

  /** Seconds that a prompt token takes; undefined until enough was seen, or while more tokens do not take longer. */
  get secondsPerToken(): number | undefined {
    if (this.#count < fewest) return undefined
    const spread = this.#weight * this.#squares - this.#tokens ** 2
    const slope = (this.#weight * this.#products - this.#tokens * this.#seconds) / spread
    return spread > 0 && slope > 0 ? slope : undefined
  }
}
