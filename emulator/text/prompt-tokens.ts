/** A growing prompt that ignores tokens once it is longer than `limit`, which bounds the work for a hostile prompt. */
export class PromptTokens {
  readonly #limit: number
  readonly #parts: ArrayLike<number>[] = []
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the prompt is longer than its limit; `length` is then a lower bound. */
  get overfull(): boolean {
    return this.length > this.#limit
  }

  append(tokens: ArrayLike<number>): void {
    if (this.overfull) return
    this.#parts.push(tokens)
    this.length += tokens.length
  }

  toArray(): Uint32Array {
    const all = new Uint32Array(this.length)
    let end = 0
    for (const part of this.#parts) {
      all.set(part, end)
      end += part.length
    }
    return all
  }
}
