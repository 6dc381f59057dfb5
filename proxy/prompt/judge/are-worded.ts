import type { BlockSpan } from './context-list.ts'

// three words in a row, as a sentence has them and a path, an option or a row has not
const WORDS = /\p{L}+[ \t]+\p{L}+[ \t]+\p{L}/u
const FURTHEST = 200

/** Whether each of these blocks holds words as sentences do, near its beginning. */
export function areWorded(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart, contentEnd }) => {
    return WORDS.test(text.slice(contentStart, Math.min(contentEnd, contentStart + FURTHEST)))
  })
}
