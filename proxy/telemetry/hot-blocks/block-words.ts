import { LRUCache } from 'lru-cache'
import type { BlockId } from '#index/context-block.ts'
import type { ReusedContext } from '../../reuse/reused-prompt.ts'

/** How many blocks' words to keep: more than are ever listed. */
const mostBlocks = 4_096
const longest = 56
/** More than `longest`, since a block may start with white space. */
const lookedAt = 4 * longest

/** The first words of blocks, by which people recognise them. Holds user text, so it is filled only if allowed. */
export class BlockWords extends LRUCache<BlockId, string> {
  constructor() {
    super({ max: mostBlocks })
  }

  /** Notes the words of the blocks in contexts. `texts`: the texts in which these blocks were found. */
  note(contexts: readonly Pick<ReusedContext, 'found'>[], texts: readonly string[]): void {
    for (const { found } of contexts) {
      const words = wordsOf(found, texts)
      for (const [i, block] of found.blocks.entries()) this.set(block, words[i]!)
    }
  }
}

/** Returns the first words of each block of a context, in one line. */
export function wordsOf({ slots }: Pick<ReusedContext['found'], 'slots'>, texts: readonly string[]): string[] {
  return slots.map(({ text, content: { start, end } }) => {
    const begins = (texts[text] ?? '').slice(start, Math.min(end, start + lookedAt))
    const line = begins.replace(/\s+/g, ' ').trim()
    return line.length > longest ? `${line.slice(0, longest).replace(/ \S*$/, '')} …` : line
  })
}
