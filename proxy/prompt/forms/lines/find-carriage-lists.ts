import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { isFileName } from '../../scan/labels/find-named-labels.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'

const MATERIAL = new RegExp(materialWords, 'iu')
const LONGEST_HEADING = 120
const LONGEST_NAME = 160

/**
 * Finds one-line texts that are separated only by carriage returns, below a line that announces them. Each follows the
 * name of its file and a colon. Texts never contain such a carriage return, so the last one ends with its line.
 */
export function findCarriageLists({ text }: Marks, region: Region): ContextList[] {
  // inside a container, its elements are the texts
  const at = region.container ? undefined : findLone(text, region.start, region.end)
  if (at === undefined) return []
  const line = Math.max(text.lastIndexOf('\n', at) + 1, region.start)
  const end = Math.min(findLineEnd(text, at), region.end)
  if (findLone(text, end, region.end) !== undefined || !isAnnounced(text, region.start, line)) return []
  const blocks: BlockSpan[] = []
  for (let from = line; from < end; ) {
    const limit = findLone(text, from, end) ?? end
    const start = findContentStart(text, from, limit)
    const contentEnd = findContentEnd(text, start, limit)
    const colon = text.slice(start, Math.min(contentEnd, start + LONGEST_NAME)).indexOf(':')
    if (contentEnd > start) {
      if (colon < 1 || !isFileName(text.slice(start, start + colon))) return []
      blocks.push({ start, end: contentEnd, contentStart: start, contentEnd })
    }
    from = limit + 1
  }
  if (blocks.length < 2) return []
  const last = blocks.at(-1)!.end
  return [{ blocks, positional: false, labelPrefix: '', form: 'record', weight: 'strong', hasOrigins: true, end: last }]
}

/** Returns the next carriage return that is not part of a CRLF. */
function findLone(text: string, from: number, to: number): number | undefined {
  // a search in the whole text would continue after `to`
  const range = text.slice(from, to)
  for (let at = range.indexOf('\r'); at >= 0; at = range.indexOf('\r', at + 1)) {
    if (text[from + at + 1] !== '\n') return from + at
  }
  return undefined
}

function isAnnounced(text: string, from: number, line: number): boolean {
  const end = findContentEnd(text, from, line)
  const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, from)
  return end - start <= LONGEST_HEADING && MATERIAL.test(text.slice(start, end))
}
