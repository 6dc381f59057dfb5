import { WordPattern } from '../../scan/words/word-pattern.ts'

const BOUNDARY = '(?<!\\p{L})'
const OTHER_LETTERS = /[\u0370-\u1fff\u3040-\uffff]/

/**
 * Patterns that are tried in turn: Latin ones only at the beginning of a word, others only if the text has such
 * letters.
 */
interface WordPatterns {
  readonly latin: WordPattern
  readonly others: WordPattern
}

/** Builds patterns whose Latin words stand at the beginning of a word, whether they say so or not. */
export function toWordPatterns(sources: readonly string[], flags: string): WordPatterns {
  const alternatives = sources.map((source) => source.replaceAll(`|${BOUNDARY}`, '|').replace(BOUNDARY, ''))
  const isOther = (source: string): boolean => OTHER_LETTERS.test(source)
  return {
    latin: new WordPattern(`(?<![a-zà-ÿ])(?:${alternatives.filter((source) => !isOther(source)).join('|')})`, flags),
    others: new WordPattern(alternatives.filter(isOther).join('|') || '(?!)', flags),
  }
}

/** Returns whether a lower-case text contains such words. */
export function holdsWords({ latin, others }: WordPatterns, text: string): boolean {
  return latin.test(text) || (OTHER_LETTERS.test(text) && others.test(text))
}
