// a text with more matches is not a question about blocks, and each takes time
const MOST_MATCHES = 1_000
// V8 first translates a pattern for its interpreter, which is slow for a large one. It compiles at once for a long text.
const COMPILED_FOR = ' '.repeat(1_000)

/** A pattern with many words, compiled when it is first used. */
export class WordPattern {
  readonly #pattern: RegExp
  #isCompiled = false

  /** Takes alternatives, or a pattern; with the flag `g` to find all matches, without it to test texts. */
  constructor(pattern: RegExp | readonly string[], flags?: string) {
    this.#pattern = pattern instanceof RegExp ? pattern : new RegExp(pattern.join('|'), flags)
  }

  test(text: string): boolean {
    this.#compile()
    return this.#pattern.test(text)
  }

  /** Yields the first matches in a text, a thousand if `most` is not given. None of them may be empty. */
  *matches(text: string, most: number = MOST_MATCHES): Generator<RegExpExecArray> {
    this.#compile()
    // `matchAll` copies the pattern each time
    let at = 0
    for (let count = 0; count < most; count++) {
      this.#pattern.lastIndex = at
      const match = this.#pattern.exec(text)
      if (match === null) return
      at = this.#pattern.lastIndex
      yield match
    }
  }

  #compile(): void {
    if (this.#isCompiled) return
    this.#pattern.test(COMPILED_FOR)
    this.#pattern.lastIndex = 0
    this.#isCompiled = true
  }
}
