/** An engine's prefix cache, as a replay needs it: it serves one request at a time. */
export interface SimulatedCache {
  /**
   * Runs a request and returns its number of cached tokens. If a prompt is larger than the cache, its front stays
   * cached. The first `promptTokens` tokens are the prompt; the rest is the answer, which is cached too.
   */
  serve(request: number, salt: string, tokens: Uint32Array, promptTokens?: number): number
  /** Returns whether a prompt of `promptTokens` tokens can be cached as a whole. */
  holds(promptTokens: number): boolean
  /** Returns the requests whose longest cached prefix has changed since the last call, with its current length. */
  takeChanges(): ReadonlyMap<number, number>
}
