import { type BlockSpan, type ContextList, toList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import { findOwn, type Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks, Place } from '../../scan/find-marks.ts'
import { readCredits } from '../../scan/labels/find-record-head.ts'

const FIELD_NAME = /^[^:：\n]{1,32}[:：]/

interface Credited extends Place {
  readonly end: number
  readonly keys: string
}

/**
 * Finds the list of texts that are each followed by their source: `Content: …` and below it `Source: a.md`. Each text
 * has such lines exactly once, so that they mark its end.
 */
export function findCreditedLists(marks: Marks, region: Region): ContextList[] {
  const contents = findOwn(marks.contents, region)
  if (contents.length < 2) return []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  // code before the list may look like it
  if (fences.pass(region.start, contents[0]!.start, region.end) > contents[0]!.start) return []
  const { text } = marks
  const name = FIELD_NAME.exec(text.slice(contents[0]!.start, contents[0]!.start + 40))?.[0] ?? ''
  const own = contents.filter(({ start }) => text.startsWith(name, start))
  const blocks: Credited[] = []
  for (const [i, { start }] of own.entries()) {
    const limit = own[i + 1]?.start ?? region.end
    const block = readBlock(text, start, limit, i === own.length - 1)
    if (block === undefined || (blocks.length > 0 && block.keys !== blocks[0]!.keys)) return []
    blocks.push(block)
  }
  if (blocks.length < 2) return []
  const spans = blocks.map(({ start, end }): BlockSpan => ({ start, end, contentStart: start, contentEnd: end }))
  return [toList(text, spans, 'credited', 'strong')]
}

/**
 * Reads the text from `start` with its credits, which must be the only ones up to `limit`. Only the last text may be
 * followed by something else.
 */
function readBlock(text: string, start: number, limit: number, isLast: boolean): Credited | undefined {
  let found: Credited | undefined
  for (let line = findLineEnd(text, start) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const credits = readCredits(text, line)
    if (credits === undefined) continue
    if (found !== undefined) return undefined
    found = { start, end: findContentEnd(text, start, Math.min(credits.end, limit)), keys: credits.keys }
    line = credits.end
    if (isLast && findContentStart(text, line, limit) > findLineEnd(text, line)) break
  }
  if (found === undefined || isLast) return found
  return findContentStart(text, found.end, limit) === limit ? found : undefined
}
