import type { PromptContext } from '../body/prompt-context.ts'

/** A number behind a word for a document, as in `document [2]`. */
export interface WordedNumber {
  readonly number: string
  /** where its word ends, but for a few letters */
  readonly at: number
}

// what `document`, `Doc_`, `source` and `passage` end with, from a rare letter on: searching leaps from one to the next
const SIGNS = ['ument', 'UMENT', '_', 'urce', 'passage', 'Passage']
const NUMBER_BEHIND = /s?[ \t]?#?[ \t]?[[(]?(\d{1,4})(?![\d%]|[.,]\d)/y
const REFERS_BEFORE = /(?:^|[^\p{L}])(?:see|as|than|like|unlike|with|cf\.?|siehe|vgl\.?) [^ ]*$/iu
const LONGEST_TITLE = 60
// what is longer was not written for the prompt it stands in, and what it numbers is its own
const LONGEST_NOTE = 4_000

/** The blocks that are short enough to have been written for the prompt they stand in. */
export function shortContents({ slots }: PromptContext, texts: readonly string[]): string[] {
  return slots
    .filter(({ content: { start, end } }) => end - start <= LONGEST_NOTE)
    .map(({ text, content: { start, end } }) => texts[text]!.slice(start, end))
}

/** The numbers that a text has behind words for a document. */
export function wordedNumbers(text: string): WordedNumber[] {
  return SIGNS.flatMap((sign) => {
    const found: WordedNumber[] = []
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + sign.length)) {
      if (sign === '_' && !text.startsWith('oc', at - 2)) continue
      NUMBER_BEHIND.lastIndex = at + sign.length
      const number = NUMBER_BEHIND.exec(text)?.[1]
      if (number !== undefined) found.push({ number, at })
    }
    return found
  })
}

/**
 * Whether every block begins with a number of its own, as `Document 7 about rivers`: so it is called wherever it stands.
 * Not where labels read alike: then nobody knows which of them is spoken of.
 */
export function areTitled(context: PromptContext, texts: readonly string[]): boolean {
  const bearers = new Map<string, string>()
  const blocks = shortContents(context, texts)
  const prefix = context.labelPrefix.toLowerCase()
  return (
    blocks.length > 0 &&
    blocks.every((words) => {
      const [first, ...others] = wordedNumbers(words)
      if (!first || first.at > LONGEST_TITLE || others.some(({ number }) => number !== first.number)) return false
      const isLabel = prefix !== '' && words.toLowerCase().includes(prefix + first.number)
      const bearer = bearers.get(first.number) ?? words
      bearers.set(first.number, words)
      return bearer === words && !isLabel && !REFERS_BEFORE.test(words.slice(0, first.at))
    })
  )
}
