import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findIndexFrom } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Fence } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { findOwn } from '../find-own.ts'

// `## The content from [a.pdf]:` and `## 来自 [文件](a.pdf) 的内容：`
const HEADING = /^#{1,6}[ \t]+(?:(?:the )?contents? (?:from|of) [^\n]+|来自[^\n]+的内容)[:：]$/i
const LONGEST_HEADING = 300

/** The opening fence of a text and the start of the heading above it. */
interface Sourced {
  readonly start: number
  readonly open: Fence
}

/**
 * Finds the list of fenced texts below headings that name their sources. A text may contain fenced code, so it ends
 * with the last fence before the next heading. The last text is closed only if a single fence is left, or nothing
 * follows the last fence.
 */
export function findSourcedLists(marks: Marks, region: Region): ContextList[] {
  const { text } = marks
  const fences = findOwn(marks.fences, region)
  if (fences.length < 4) return []
  const own = fences.flatMap((open): Sourced[] => {
    const start = findHeading(text, open, region)
    return start === undefined ? [] : [{ start, open }]
  })
  if (own.length < 2) return []
  const blocks = own.map(({ start, open }, i): BlockSpan | undefined => {
    const close = findClose(text, open, fences, own[i + 1]?.start, region)
    if (close === undefined) return undefined
    const contentStart = findContentStart(text, open.end, close.start)
    const contentEnd = findContentEnd(text, contentStart, close.start)
    return { start, end: findContentEnd(text, close.start, close.end), contentStart, contentEnd }
  })
  if (!blocks.every((block) => block !== undefined)) return []
  const end = blocks.at(-1)!.end
  return [{ blocks, positional: false, labelPrefix: '', form: 'sourced', weight: 'strong', end }]
}

/** Returns where the heading above a fence begins. Only blank lines may be between them. */
function findHeading(text: string, { start, bare }: Fence, region: Region): number | undefined {
  const end = findContentEnd(text, region.start, start)
  const line = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start)
  const isHeading = bare && end - line <= LONGEST_HEADING && HEADING.test(text.slice(line, end))
  return isHeading ? line : undefined
}

function findClose(
  text: string,
  open: Fence,
  fences: readonly Fence[],
  next: number | undefined,
  region: Region,
): Fence | undefined {
  const inside = fences.slice(findIndexFrom(fences, open.end), findIndexFrom(fences, next ?? region.end))
  const close = inside.at(-1)
  if (close === undefined || !close.bare || close.code !== open.code || close.length < open.length) return undefined
  const limit = next ?? region.end
  const isLast = findContentStart(text, close.end, limit) === limit
  return isLast || (next === undefined && inside.length === 1) ? close : undefined
}
