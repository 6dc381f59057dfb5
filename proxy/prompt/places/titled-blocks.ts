import type { PromptContext } from '../body/prompt-context.ts'

/** A number after a word for a document, as in `document [2]`. */
interface WordedNumber {
  readonly number: string
  /** where its word ends, give or take a few letters */
  readonly at: number
}

// endings of `document`, `Doc_`, `source` and `passage`, each from a rare letter on, so that the search can skip ahead
const SIGNS = ['ument', 'UMENT', '_', 'urce', 'passage', 'Passage']
const NUMBER_BEHIND = /s?[ \t]?#?[ \t]?[[(]?(\d{1,4})(?![\d%]|[.,]\d)/y
const REFERS_BEFORE = /(?:^|[^\p{L}])(?:see|as|than|like|unlike|with|cf\.?|siehe|vgl\.?) [^ ]*$/iu
const LONGEST_TITLE = 60
// a longer text was not written for its prompt, and its numbers are its own
const LONGEST_NOTE = 4_000

/** Returns the contents of blocks short enough to have been written for their prompt. */
export function shortContents({ slots }: PromptContext, texts: readonly string[]): string[] {
  return slots
    .filter(({ content: { start, end } }) => end - start <= LONGEST_NOTE)
    .map(({ text, content: { start, end } }) => texts[text]!.slice(start, end))
}

/** Returns the numbers in a text that follow words for a document. */
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
 * Returns whether every block begins with its own number, as in `Document 7 about rivers`, which then names it at any
 * position. False if labels read the same, because then it is unclear which of them is meant.
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
