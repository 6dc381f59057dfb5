import type { PromptContext } from '../../body/prompt-context.ts'
import { nouns } from '../../scan/words/nouns.ts'
import { WordPattern } from '../../scan/words/word-pattern.ts'

/** Ordinals and other words for a place in a row. */
export const PLACE =
  '(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last|final|penultimate|next[- ]to[- ]last|(?:second|2nd|third|3rd)[- ](?:to[- ])?last|bottom|topmost|\\d{1,2}(?:st|nd|rd|th))'
export const NUMERAL = '(?:one|two|three|four|five|six|seven|eight|nine|ten)'

/** The end of a sentence and the number of the next rule, as in `Use the documents. 2. Be brief.` */
export const ENUMERATED = '[.:] \\d{1,2}[.)] '

const WORD = '(\\p{L}{3,30})'
// `first read the documents` counts nothing
const NEXT = '(?:[ -](?!(?:the|these|those|all|your|our|any|each|every|some)(?!\\p{L}))(\\p{L}{3,30}))?'
// each is tried by itself: `what is the last` must not hide `the last memory`
const COUNTED = [
  `${PLACE}(?: (?:and|or|to|the|of|two|three|four|five|few|\\d{1,2}|${PLACE})){0,4}[ -]${WORD}${NEXT}${NEXT}`,
  `(?:the|that) (?:previous|preceding|next|middle|top|bottom|opening|initial) ${WORD}(?:[ -]${WORD})?`,
  `${WORD}(?: number| no\\.)? ${NUMERAL}(?!\\p{L})`,
  `(?:the|your|my) #1 ${WORD}`,
  `${WORD} (?:is|are|was|were|comes?|came|stands?|appears?) (?:the )?${PLACE}(?!\\p{L})`,
].map((pattern) => new WordPattern([`(?<!\\p{L})${pattern}`], 'giu'))
const NUMBERED = new WordPattern(
  [
    `(?<!\\p{L})${WORD}(?!${ENUMERATED}) ?(?:[_#.:(\\[*№-]{1,2}|n[o°]\\.?:?|numbers?:?|numbered|labell?ed)? ?(\\d{1,4})(?![\\d%]|[.,]\\d)`,
  ],
  'giu',
)
// the words that announce a list are in the line before it
const LONGEST_LINE = 300
// members of a JSON object are named within so many characters
const LONGEST_NAMES = 400
const MEMBER = /"(\p{L}{3,30})"\s?:/gu
// `index=` and `Title:` name what a block has, not what it is
const FIELD = /\p{L}{3,30}["']?\s?[=:]/gu
// the line before a list may also say `answer` or `question`, or how many were `retrieved`
const known = new Set(
  nouns.flatMap(({ language, singular, plural }) =>
    [singular, plural].flatMap((noun) => (language === 'en' ? wordsOf(noun).slice(-1) : wordsOf(noun))),
  ),
)

/** Reads the words that a text counts by place, such as `memory` in `the second memory`, in the singular. */
export function readCountedWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const pattern of COUNTED) {
    for (const match of pattern.matches(text)) {
      for (const word of match.slice(1)) if (word !== undefined) words.add(toSingular(word))
    }
  }
  return words
}

/** Reads the words with a number, such as `memory 2`. Leaves out those for which `isNothing` returns true. */
export function readNumberedWords(text: string, isNothing: (start: number, end: number) => boolean): Set<string> {
  const words = new Set<string>()
  for (const { 0: whole, 1: word, 2: number, index } of NUMBERED.matches(text)) {
    const named = `${toSingular(word!)} ${number}`
    if (!words.has(named) && !isNothing(index, index + whole.length)) words.add(named)
  }
  return words
}

/**
 * Returns the words by which a prompt itself calls the blocks of a context, in the singular: those in the marks of its
 * first two blocks (`memory` in `<memory id="1">`), and nouns for retrieved texts in the line before it (`Memories:`) or
 * among the members of a JSON object (`{"memory": …}`).
 */
export function ownWords({ slots }: PromptContext, texts: readonly string[]): Set<string> {
  const [first, second] = slots
    .slice(0, 2)
    .map(({ text, start, content }) => wordsOf(texts[text]!.slice(start, content.start).replaceAll(FIELD, ' ')))
  // a word in only one of them is a title's
  const marks = new Set(first!.filter((word) => second!.includes(word)))
  const { text, start, content } = slots[0]!
  const line = /[^\n]*\n?\s*$/.exec(texts[text]!.slice(Math.max(start - LONGEST_LINE, 0), start))![0]
  const block = texts[text]!.slice(content.start, content.start + LONGEST_NAMES)
  const members = block.startsWith('{') ? [...block.matchAll(MEMBER)].map(([, name]) => toSingular(name!)) : []
  return new Set([...marks, ...[...wordsOf(line), ...members].filter((word) => known.has(word))])
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/\p{L}{3,30}/gu)].map(([word]) => toSingular(word))
}

function toSingular(word: string): string {
  const lower = word.toLowerCase()
  return lower.endsWith('ies') ? `${lower.slice(0, -3)}y` : lower.replace(/(?<=[^s])s$/, '')
}
