import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Foot } from '../../scan/labels/find-feet.ts'
import { announcingWords } from '../../scan/words/vocabulary.ts'
import { findOwn } from '../find-own.ts'

const ANNOUNCING = new RegExp(announcingWords, 'iu')
const LONGEST_HEADING = 200

/**
 * Finds the list of texts that each end with a line naming their source, such as `(Source: a.md)`, and a blank line.
 * The first text begins below the only line that announces them.
 */
export function findFootedLists(marks: Marks, region: Region): ContextList[] {
  const all = findOwn(marks.feet, region)
  const [first] = all
  if (first === undefined || all.length < 2) return []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  const own = all.filter(({ form }) => form === first.form)
  if (own.length < 2 || fences.pass(region.start, first.start, region.end) > first.start) return []
  const start = region.isKin ? findContentStart(marks.text, region.start, region.end) : findStart(marks, region, first)
  if (start === undefined || start >= first.start) return []
  const blocks = own.map(({ end }, i): BlockSpan => {
    const from = i === 0 ? start : findContentStart(marks.text, own[i - 1]!.end, end)
    return { start: from, end, contentStart: from, contentEnd: end }
  })
  const { end } = blocks.at(-1)!
  // a text without such a line would be taken for the beginning of the next one
  if (marks.text.slice(end, region.end).includes('\n\n') && isMore(marks.text, end, region.end)) return []
  return [
    { blocks, positional: false, labelPrefix: '', form: 'credited', weight: 'weak', end, inContainer: region.isKin },
  ]
}

/** Returns whether the text after the list is longer than a few prompt lines. */
function isMore(text: string, from: number, to: number): boolean {
  return findContentEnd(text, from, to) - from > 2_000
}

/**
 * Returns where the texts begin: below the line that announces them. Undefined unless there is exactly one such line.
 */
function findStart({ text }: Marks, region: Region, first: Foot): number | undefined {
  let start: number | undefined
  for (let line = region.start; line < first.start; line = findLineEnd(text, line) + 1) {
    const end = Math.min(findContentEnd(text, line, findLineEnd(text, line)), first.start)
    if (end - line > LONGEST_HEADING || (!/[:：*]$/.test(text.slice(end - 1, end)) && text[line] !== '#')) continue
    if (!ANNOUNCING.test(text.slice(line, end))) continue
    if (start !== undefined) return undefined
    start = findContentStart(text, end, region.end)
  }
  return start
}
