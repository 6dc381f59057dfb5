const LONGEST_END = 10_000
// `das 2. Dokument` is one sentence
const BETWEEN = /(?<=[.!?](?<!(?:e\.g|i\.e|z\.b|u\.a|vs|no|nr|docs?|p|etc|cf|\b\d\d?)\.))[ \t]+|(?<=[。！？])|\n+/iu
const MOST = 1_000

/** Rules on which words mean the texts of a list. */
export const textRules = {
  text: 'TEXT',
  they: 'THEY',
  /** asks which of the texts it is, as `which document`: without a name, a text is named by its place */
  which: `
    pick|choose|select|identify|find the|an|a|that !NOT_OF_TEXTS _? !NOT_OF_TEXTS _? !NOT_OF_TEXTS TEXT_EN
    point out|to the|an|a|that _? _? TEXT_EN; if_so|if_yes|and_so ,? which ones|one? $
    which|what one? of the|these|those _? TEXT_EN; which|what one? of them $
    which|what document|source|passage|text|chunk|file|snippet|excerpt|article|one|paper|item|entry
    which documents|sources|passages|texts|chunks|files|snippets|articles|ones|papers SAY
    WHICH der|des|de_ces|de_los|de_las|dei|dos|das|из|van_de|av|af|od|z? _? _? TEXT_ABROAD`,
} as const

/** Returns the two ends of a text, because a question comes before or after what it is about. */
export function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}

/** Returns the sentences of a text; a line is one, too. */
export function sentencesOf(text: string): string[] {
  return text.split(BETWEEN, MOST).filter((sentence) => sentence.trim() !== '')
}
