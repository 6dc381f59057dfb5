/** The requests that an engine has been given, and the tokens it has yet to prefill for them. O(1). */
export class EngineSlots<T> {
  readonly #held = new Map<T, number>()
  #tokens = 0

  /** How many requests the engine has. */
  get taken(): number {
    return this.#held.size
  }

  /** Tokens that the engine has yet to prefill. */
  get tokens(): number {
    return this.#tokens
  }

  /** The engine is given a request. */
  take(request: T, tokens: number): void {
    this.#held.set(request, tokens)
    this.#tokens += tokens
  }

  /** The engine has begun to answer a request: its prompt is prefilled. */
  prefilled(request: T): void {
    const tokens = this.#held.get(request)
    if (tokens === undefined) return
    this.#held.set(request, 0)
    this.#tokens -= tokens
  }

  /** A request has ended; false when the engine does not have it. */
  free(request: T): boolean {
    this.prefilled(request)
    return this.#held.delete(request)
  }
}
