import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findIndexFrom, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { KEYS_LINE } from '../../scan/line-reader.ts'

// begins the last line of each text, as in `From Smith et al. A title. 2020.`
const CREDIT = 'From '
const LONGEST_KEY = 200

/**
 * Finds the list of texts whose keys are listed on a line after them: `Smith2020 pages 1-3: text`, a line `From …`, and
 * below all of them `Valid Keys: Smith2020 pages 1-3, Lee2021 pages 4-5`, as PaperQA2 writes them.
 */
export function findKeyedLists({ text, keyLines }: Marks, region: Region): ContextList[] {
  const at = keyLines[findIndexFrom(keyLines, region.start + 1)]?.start
  if (at === undefined || at + KEYS_LINE.length > region.end) return []
  const keys = new Set(
    text
      .slice(at + KEYS_LINE.length, findLineEnd(text, at))
      .split(/, */)
      .map((key) => key.trim()),
  )
  const starts = findStarts(text, keys, region.start, at)
  const blocks = starts.map((start, i): BlockSpan => {
    const end = findContentEnd(text, start, starts[i + 1] ?? at)
    return { start, end, contentStart: Math.min(text.indexOf(': ', start) + 2, end), contentEnd: end }
  })
  // a quoted key is not a text of its own and would tear the surrounding text apart
  const areEach = starts.length === keys.size && blocks.every((block) => isCredited(text, block))
  if (blocks.length < 2 || !areEach) return []
  const end = blocks.at(-1)!.end
  return [{ blocks, positional: false, labelPrefix: '', form: 'keyed', weight: 'strong', end }]
}

/** Returns where lines begin with a key and a colon. */
function findStarts(text: string, keys: ReadonlySet<string>, from: number, to: number): number[] {
  const starts: number[] = []
  for (let line = from; line < to; line = findLineEnd(text, line) + 1) {
    const words = text.slice(line, Math.min(findLineEnd(text, line), line + LONGEST_KEY))
    const colon = words.indexOf(': ')
    if (colon > 0 && keys.has(words.slice(0, colon))) starts.push(line)
  }
  return starts
}

function isCredited(text: string, { start, end }: BlockSpan): boolean {
  const line = text.lastIndexOf('\n', end - 1) + 1
  return line > start && text.startsWith(CREDIT, line)
}
