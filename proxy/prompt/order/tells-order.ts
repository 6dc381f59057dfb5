import type { BlockSpan } from '../context-list.ts'
import { areCutCode } from './are-cut-code.ts'
import { areMails } from './are-mails.ts'
import { areNarrative } from './are-narrative.ts'
import { areTalk } from './are-talk.ts'
import { goOn } from './goes-on.ts'
import { areNumberedHeads } from './numbered-heads.ts'
import { areDatedHeads, isMonotone, readKey } from './order-key.ts'

/*
 * What the texts of a list reveal about their order. A date, a time or a number before each text is an order if it
 * rises or falls throughout. Search results with dates are sorted by rank, so their dates do neither, unless there are
 * few of them.
 */

const PATCH = /^(?:diff --git |--- [ab]\/|\+\+\+ [ab]\/|@@ -\d|Index: \S|commit [0-9a-f]{7,40}\b)/
const LONGEST_LINE = 200

/**
 * Returns whether the texts of these blocks have an order that must stay. Either each begins with a date, a time or a
 * number, possibly after the same words, and these rise or fall; or several continue with `Then` or `At last`; or they
 * are mails, patches, alternating speakers or pieces of one source file; or sentences continue from each text into the
 * next.
 */
export function tellsOrder(text: string, blocks: readonly BlockSpan[]): boolean {
  if (blocks.length < 2) return false
  const headOf = ({ contentStart, contentEnd }: BlockSpan): string =>
    text.slice(contentStart, Math.min(contentEnd, contentStart + LONGEST_LINE)).trimStart()
  // most lists are decided by their first block, and then no other block is read
  return (
    blocks.every((block) => PATCH.test(headOf(block))) ||
    areTalk(blocks, headOf) ||
    areMails(text, blocks) ||
    isMonotone(blocks, (block) => readKey(headOf(block))) ||
    areNumberedHeads(blocks.map(headOf)) ||
    areDatedHeads(blocks.map(headOf)) ||
    areNarrative(blocks.map(headOf)) ||
    goOn(text, blocks) ||
    areCutCode(text, blocks)
  )
}
