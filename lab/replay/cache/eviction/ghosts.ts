/** Names of recently evicted nodes, up to `capacity` tokens in total. The oldest are dropped first. */
export class Ghosts {
  readonly #capacity: number
  readonly #sizes = new Map<number, number>()
  #tokens = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(name: number, tokens: number): void {
    this.take(name)
    this.#sizes.set(name, tokens)
    this.#tokens += tokens
    for (const oldest of this.#sizes.keys()) {
      if (this.#tokens <= this.#capacity) return
      this.take(oldest)
    }
  }

  /** Removes a name. Returns whether it was there. */
  take(name: number): boolean {
    const tokens = this.#sizes.get(name)
    if (tokens === undefined) return false
    this.#sizes.delete(name)
    this.#tokens -= tokens
    return true
  }
}
