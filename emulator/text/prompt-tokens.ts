/** A growing prompt that ignores tokens once it is longer than `limit`, which bounds the work for a hostile prompt. */
export class PromptTokens {
  readonly #limit: number
  #tokens: Uint32Array = new Uint32Array(1024)
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#length
  }

  /** Whether the prompt is longer than its limit; `length` is then a lower bound. */
  get overfull(): boolean {
    return this.#length > this.#limit
  }

  append(tokens: ArrayLike<number>): void {
    if (this.overfull) return
    if (this.#length + tokens.length > this.#tokens.length) this.#grow(this.#length + tokens.length)
    this.#tokens.set(tokens, this.#length)
    this.#length += tokens.length
  }

  toArray(): Uint32Array {
    return this.#tokens.slice(0, this.#length)
  }

  #grow(length: number): void {
    const grown = new Uint32Array(Math.max(length, this.#tokens.length * 2))
    grown.set(this.#tokens.subarray(0, this.#length))
    this.#tokens = grown
  }
}
