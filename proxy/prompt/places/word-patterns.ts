const BOUNDARY = '(?<!\\p{L})'
const OTHER_LETTERS = /[\u0370-\u1fff\u3040-\uffff]/

/** Patterns that are read in turn: that of Latin letters only where a word begins, those of others where a text has such. */
export interface WordPatterns {
  readonly latin: RegExp
  readonly others: RegExp
}

/** One look behind for all words: a look for each takes many times as long. */
export function toWordPatterns(sources: readonly string[], flags: string): WordPatterns {
  const alternatives = sources.map((source) => source.replaceAll(`|${BOUNDARY}`, '|').replace(BOUNDARY, ''))
  const isOther = (source: string): boolean => OTHER_LETTERS.test(source)
  return {
    latin: new RegExp(`(?<![a-zà-ÿ])(?:${alternatives.filter((source) => !isOther(source)).join('|')})`, flags),
    others: new RegExp(alternatives.filter(isOther).join('|') || '(?!)', flags),
  }
}

/** Whether a text in small letters holds such words. */
export function holdsWords({ latin, others }: WordPatterns, text: string): boolean {
  return latin.test(text) || (OTHER_LETTERS.test(text) && others.test(text))
}
