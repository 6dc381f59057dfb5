import type { ReadPrompt } from './read-blocks.ts'

export const readerModels = ['reader-content', 'reader-place'] as const
export type ReaderModel = (typeof readerModels)[number]

const shortestWord = 3
const wordsOfLine = 3
/** Said of a prompt without blocks. */
const nothing = 'There is nothing to read.'

/**
 * What a model says to a prompt. `reader-content` quotes the block that shares most words with the question, whatever the
 * blocks' order; `reader-place` gives one line for each block, its first three words, in their order.
 */
export function writeAnswer(model: ReaderModel, { blocks, question }: ReadPrompt): string {
  if (blocks.length === 0) return nothing
  if (model === 'reader-place') return blocks.map(firstWords).join('\n')
  const asked = wordsOf(question)
  const shared = (block: string): number => [...wordsOf(block)].filter((word) => asked.has(word)).length
  const best = [...blocks].sort((a, b) => shared(b) - shared(a) || (a < b ? -1 : 1))[0]!
  return best.replaceAll(/\s+/g, ' ')
}

function firstWords(block: string): string {
  return block.split(/\s+/).slice(0, wordsOfLine).join(' ')
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => word.length >= shortestWord))
}
