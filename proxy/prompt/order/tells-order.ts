import type { BlockSpan } from '../judge/context-list.ts'
import { areCutCode } from './are-cut-code.ts'
import { areMails } from './are-mails.ts'
import { areTalk } from './are-talk.ts'
import { goOn } from './goes-on.ts'
import { areNumberedHeads } from './numbered-heads.ts'
import { areDatedHeads, isMonotone, readKey } from './order-key.ts'
import { areToldInTurn } from './told-in-turn.ts'

/*
 * What the texts of a list say of their order. A date, a time or a number in front of each is an order if it rises or
 * falls through the list: search results that bear dates stand by rank, and their dates do neither, unless they are few.
 */

const PATCH = /^(?:diff --git |--- [ab]\/|\+\+\+ [ab]\/|@@ -\d|Index: \S|commit [0-9a-f]{7,40}\b)/
const LONGEST_LINE = 200

/**
 * Whether the texts of these blocks tell an order that must stay: each begins with a date, a time or a number, and these
 * rise or fall, also behind the same words; several go on with `Then` or `At last`; they are mails, patches or what speakers say in turn; or sentences go on from each into the next, from
 * the beginning of the first to the end of the last.
 */
export function tellsOrder(text: string, blocks: readonly BlockSpan[]): boolean {
  if (blocks.length < 2) return false
  const headOf = ({ contentStart, contentEnd }: BlockSpan): string =>
    text.slice(contentStart, Math.min(contentEnd, contentStart + LONGEST_LINE)).trimStart()
  // most lists are told by their first block: no other one is read then
  return (
    blocks.every((block) => PATCH.test(headOf(block))) ||
    areTalk(blocks, headOf) ||
    areMails(text, blocks) ||
    isMonotone(blocks, (block) => readKey(headOf(block))) ||
    areNumberedHeads(blocks.map(headOf)) ||
    areDatedHeads(blocks.map(headOf)) ||
    areToldInTurn(blocks.map(headOf)) ||
    goOn(text, blocks) ||
    areCutCode(text, blocks)
  )
}
