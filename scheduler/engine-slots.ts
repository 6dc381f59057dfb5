/** The requests at an engine, and the tokens it has yet to prefill for them. Every operation is O(1). */
export class EngineSlots<T> {
  readonly #held = new Map<T, number>()
  /** tokens that the engine has yet to prefill */
  tokens = 0

  /** Number of requests at the engine. */
  get taken(): number {
    return this.#held.size
  }

  /** Records that a request goes to the engine. */
  take(request: T, tokens: number): void {
    this.#held.set(request, tokens)
    this.tokens += tokens
  }

  /** Records that a request's prompt is prefilled, because the engine has begun to answer it. */
  prefilled(request: T): void {
    const tokens = this.#held.get(request)
    if (tokens === undefined) return
    this.#held.set(request, 0)
    this.tokens -= tokens
  }

  /** Frees the slot of a request that has ended. Returns false if the engine does not have it. */
  free(request: T): boolean {
    this.prefilled(request)
    return this.#held.delete(request)
  }
}
