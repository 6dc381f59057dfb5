const LONGEST_END = 10_000
// `das 2. Dokument` and `z. B. das` are one sentence
const BETWEEN =
  /(?<=[.!?](?<!(?:e\.g|i\.e|z\.b|u\.a|vs|no|nr|docs?|p|etc|cf|\b\d\d?)\.))[ \t]+(?!b\.)|(?<=[。！？])|\n+/iu
const MOST = 1_000

/** Returns the two ends of a text, because a question comes before or after what it is about. */
export function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}

const ASKING = /[?？؟;]['"”’)]{0,2}\s*$/

export function isQuestion(sentence: string): boolean {
  return ASKING.test(sentence)
}

/** Returns the sentences of a text; a line is one, too. */
export function sentencesOf(text: string): string[] {
  return text.split(BETWEEN, MOST).filter((sentence) => sentence.trim() !== '')
}
