import { WordPattern } from '../../scan/words/word-pattern.ts'

const BOUNDARY = '(?<!\\p{L})'
const OTHER_LETTERS = /[\u0370-\u1fff\u3040-\uffff]/

/** Joins patterns for lower-case words. Latin words stand at the beginning of a word, whether they say so or not. */
export function anyOf(sources: readonly string[]): WordPattern {
  const alternatives = sources.map((source) => source.replaceAll(`|${BOUNDARY}`, '|').replace(BOUNDARY, ''))
  const latin = alternatives.filter((source) => !OTHER_LETTERS.test(source))
  const others = alternatives.filter((source) => OTHER_LETTERS.test(source))
  return new WordPattern([`(?<![a-zà-ÿ])(?:${latin.join('|')})`, ...others], 'u')
}

const LONGEST_END = 10_000
const BETWEEN = /(?<=[.!?](?<!(?:e\.g|i\.e|z\.b|u\.a|vs|no|nr|p|etc|cf)\.))[ \t]+|(?<=[。！？])|\n+/u
const MOST = 1_000

/** Returns the two ends of a text, because a question comes before or after what it is about. */
export function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}

/** Returns the sentences of a text; a line is one, too. */
export function sentencesOf(text: string): string[] {
  return text.split(BETWEEN, MOST).filter((sentence) => sentence.trim() !== '')
}
