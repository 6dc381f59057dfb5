import type { WordPattern } from '../../scan/words/word-pattern.ts'

// a text with more matches is not a question about blocks, and each takes time
const MOST_MATCHES = 1_000

/** Yields the first matches of a pattern, a thousand if `most` is not given. */
export function* firstMatches(
  text: string,
  pattern: WordPattern,
  most: number = MOST_MATCHES,
): Generator<RegExpExecArray> {
  let count = 0
  for (const match of pattern.matches(text)) {
    if (++count > most) return
    yield match
  }
}
