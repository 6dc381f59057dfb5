import type { WordPattern } from '../../scan/words/word-pattern.ts'

// a text with more matches is not a question about blocks, and each takes time
const MOST_MATCHES = 1_000

/** Yields the first thousand matches of a global pattern. */
export function* firstMatches(text: string, pattern: WordPattern): Generator<RegExpExecArray> {
  let count = 0
  for (const match of pattern.matches(text)) {
    if (++count > MOST_MATCHES) return
    yield match
  }
}
