import type { BlockSpan } from '../context-list.ts'

// three words in a row, as in a sentence but not in a path, an option or a table row
const WORDS = /\p{L}+[ \t]+\p{L}+[ \t]+\p{L}/u
const FURTHEST = 200

/** Returns whether each of these blocks has sentence-like words near its beginning. */
export function areWorded(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart, contentEnd }) => {
    return WORDS.test(text.slice(contentStart, Math.min(contentEnd, contentStart + FURTHEST)))
  })
}
