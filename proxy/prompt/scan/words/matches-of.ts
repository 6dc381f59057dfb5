// a text with more matches is not a question about blocks, and each takes time
const MOST_MATCHES = 10_000
// V8 first translates a pattern for its interpreter, which is slow for a large one. It compiles at once for a long text.
const COMPILED_FOR = ' '.repeat(1_000)
const compiled = new Set<RegExp>()

/**
 * Yields the first matches of a pattern with many words, which has the flag `g` and is compiled when it is first used. None
 * of them may be empty.
 */
export function* matchesOf(pattern: RegExp, text: string): Generator<RegExpExecArray> {
  if (!compiled.has(pattern)) pattern.test(COMPILED_FOR)
  compiled.add(pattern)
  // `matchAll` copies the pattern each time
  let at = 0
  for (let count = 0; count < MOST_MATCHES; count++) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return
    at = pattern.lastIndex
    yield match
  }
}
