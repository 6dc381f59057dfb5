import { type BlockSpan, type ContextList, mostBlocks } from '../../context-list.ts'
import { findContentEnd, findContentStart } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'

const OPENING = /<([01])>/y

/**
 * Finds the texts that fill a container of retrieved texts, each between tags that are its number: `<documents> <1>…</1>
 * <2>…</2> </documents>`. The numbers run on from the first, and there is nothing between the texts.
 */
export function findNumberedElements({ text }: Marks, region: Region): ContextList[] {
  if (!region.isKin) return []
  OPENING.lastIndex = findContentStart(text, region.start, region.end)
  const first = OPENING.exec(text)
  if (first === null) return []
  const blocks: BlockSpan[] = []
  let at = first.index
  for (let number = Number(first[1]); at < region.end; number++) {
    const [opening, closing] = [`<${number}>`, `</${number}>`]
    const close = text.startsWith(opening, at) ? text.indexOf(closing, at) : -1
    if (close < 0 || close + closing.length > region.end || blocks.length === mostBlocks) return []
    const contentStart = findContentStart(text, at + opening.length, close)
    const contentEnd = findContentEnd(text, contentStart, close)
    const label = { start: at + 1, end: at + opening.length - 1 }
    // the closing tag has the number, too, and stays in its place
    blocks.push({ label, start: at, end: contentEnd, contentStart, contentEnd })
    at = findContentStart(text, close + closing.length, region.end)
  }
  if (blocks.length < 2) return []
  return [
    { blocks, positional: true, labelPrefix: '', form: 'closed', weight: 'weak', end: region.end, inContainer: true },
  ]
}
