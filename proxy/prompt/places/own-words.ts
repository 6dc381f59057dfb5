import type { PromptContext } from '../body/prompt-context.ts'
import { nouns } from '../scan/words/nouns.ts'
import { toSingular } from './read-remarks.ts'

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

/**
 * Returns the words by which a prompt itself calls the blocks of a context, in the singular: those in the marks of its
 * first two blocks (`memory` in `<memory id="1">`), and nouns for retrieved texts in the line before it (`Memories:`) or
 * among the members of a JSON object (`{"memory": …}`).
 */
export function ownWords({ slots }: PromptContext, texts: readonly string[]): string[] {
  const [first, second] = slots
    .slice(0, 2)
    .map(({ text, start, content }) => wordsOf(texts[text]!.slice(start, content.start).replaceAll(FIELD, ' ')))
  // a word in only one of them is a title's
  const marks = first!.filter((word) => second!.includes(word))
  const { text, start, content } = slots[0]!
  const line = /[^\n]*\n?\s*$/.exec(texts[text]!.slice(Math.max(start - LONGEST_LINE, 0), start))![0]
  const block = texts[text]!.slice(content.start, content.start + LONGEST_NAMES)
  const members = block.startsWith('{') ? [...block.matchAll(MEMBER)].map(([, name]) => toSingular(name!)) : []
  return [...marks, ...[...wordsOf(line), ...members].filter((word) => known.has(word))]
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/\p{L}{3,30}/gu)].map(([word]) => toSingular(word))
}
