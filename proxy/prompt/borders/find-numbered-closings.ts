import type { BlockSpan } from '../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Label } from '../scan/labels/label.ts'

/** A line that closes one block by number, such as `[END CONTEXT 2]`. */
interface NumberedClosing {
  readonly start: number
  readonly end: number
}

const EDGE = '[\\-=*_#<>(){}|~\\[\\] \\t]{0,40}'
const NOUN = '(?:\\p{L}{1,20}[ _.#:-]{0,2}){0,2}'
const CLOSING = new RegExp(
  `^${EDGE}(?:(?:(?:end|stop)[ _-]?(?:of[ _-])?(?:the[ _-])?|/[ \\t]?)${NOUN}(\\d{1,6})|${NOUN}(\\d{1,6})[ _-]end)${EDGE}$`,
  'iu',
)
const LONGEST_LINE = 120

/**
 * Returns the lines that close these blocks, except the last, by number. Like the label's, such a number belongs to the
 * position. Undefined unless every block has one.
 */
export function findInnerClosings(text: string, labels: readonly Label[]): NumberedClosing[] | undefined {
  const first = labels[0]!.number
  if (first === undefined || first > 1) return undefined
  const closings: NumberedClosing[] = []
  for (const [i, { end, number }] of labels.slice(0, -1).entries()) {
    const bodyEnd = findContentEnd(text, end, labels[i + 1]!.start)
    const line = text.lastIndexOf('\n', bodyEnd - 1) + 1
    if (number !== first + i || line <= end || !closes(text, line, bodyEnd, number)) return undefined
    closings.push({ start: line, end: bodyEnd })
  }
  return closings
}

/** Returns the first line up to `limit` that closes this label's block by number. */
export function findOwnClosing(text: string, { end: from, number }: Label, limit: number): NumberedClosing | undefined {
  for (let line = findLineEnd(text, from) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const end = findContentEnd(text, line, Math.min(findLineEnd(text, line), limit))
    if (closes(text, line, end, number)) return { start: line, end }
  }
  return undefined
}

/** Returns what is in front of each block, and behind the last: a line that closes one says no more than its label. */
export function outsideBlocks(text: string, blocks: readonly Pick<BlockSpan, 'start' | 'end' | 'label'>[]): string[] {
  let at = 0
  const pieces = blocks.map(({ start, end, label }) => {
    const piece = text.slice(at, start)
    at = label ? findEndBehindClosing(text, end, Number(text.slice(label.start, label.end))) : end
    return piece
  })
  return [...pieces, text.slice(at)]
}

/** Returns the end of the line that closes by number the block ending at `at`. Returns `at` if there is none. */
function findEndBehindClosing(text: string, at: number, number: number): number {
  const start = findContentStart(text, at, text.length)
  const end = findContentEnd(text, start, findLineEnd(text, start))
  // `…rain.[webpage 1 end]`
  const isApart = text.slice(at, start).includes('\n') || '[<'.includes(text[start] ?? ' ')
  return isApart && closes(text, start, end, number) ? end : at
}

function closes(text: string, start: number, end: number, number: number | undefined): boolean {
  if (end - start > LONGEST_LINE) return false
  const line = text.slice(start, end).trim()
  // most lines do not hold the number
  if (!line.includes(String(number))) return false
  const closing = CLOSING.exec(line)
  return closing !== null && Number(closing[1] ?? closing[2]) === number
}
