import { type BlockSpan, type ContextList, toList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import { findOwn, type Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { type Credits, readCredits, readField } from '../../scan/labels/find-record-head.ts'

/**
 * Finds the list of texts that are each followed by their source: `Content: …` and below it `Source: a.md`. Each text
 * has such lines exactly once, so that they mark its end.
 */
export function findCreditedLists(marks: Marks, region: Region): ContextList[] {
  const contents = findOwn(marks.contents, region)
  if (contents.length < 2) return []
  const { text } = marks
  const { start: first } = contents[0]!
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  // code before the list may look like it
  if (fences.pass(region.start, first, region.end) > first) return []
  const name = text.slice(first, readField(text, first)!.end)
  const own = contents.filter(({ start }) => text.startsWith(name, start))
  const blocks: BlockSpan[] = []
  let shared: string | undefined
  for (const [i, { start }] of own.entries()) {
    const { end, keys } = readBlock(text, start, own[i + 1]?.start ?? region.end, i === own.length - 1) ?? {}
    shared ??= keys
    if (end === undefined || keys !== shared) return []
    blocks.push({ start, end, contentStart: start, contentEnd: end })
  }
  return blocks.length < 2 ? [] : [toList(text, blocks, 'credited', 'strong')]
}

/**
 * Reads the text from `start` with its credits, which must be the only ones up to `limit`. Only the last text may be
 * followed by something else.
 */
function readBlock(text: string, start: number, limit: number, isLast: boolean): Credits | undefined {
  let found: Credits | undefined
  for (let line = findLineEnd(text, start) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const credits = readCredits(text, line)
    if (credits === undefined) continue
    if (found !== undefined) return undefined
    found = { end: findContentEnd(text, start, Math.min(credits.end, limit)), keys: credits.keys }
    line = credits.end
    if (isLast && findContentStart(text, line, limit) > findLineEnd(text, line)) break
  }
  if (found === undefined || isLast) return found
  return findContentStart(text, found.end, limit) === limit ? found : undefined
}
