import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Label } from '../scan/labels/label.ts'

/** The line that closes one block by its number, as `[END CONTEXT 2]`. */
export interface NumberedClosing {
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
 * The lines that close each of these blocks but the last by its own number. Such a number belongs to the place, as the
 * label's does. Undefined unless all of them have one.
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

/** The first line up to `limit` that closes the block of this label by its number. */
export function findOwnClosing(text: string, { end: from, number }: Label, limit: number): NumberedClosing | undefined {
  for (let line = findLineEnd(text, from) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const end = findContentEnd(text, line, Math.min(findLineEnd(text, line), limit))
    if (closes(text, line, end, number)) return { start: line, end }
  }
  return undefined
}

/** Behind the line that closes the block which ends at `at` by its number, if there is one; `at` if not. */
export function findEndBehindClosing(text: string, at: number, number: number): number {
  const start = findContentStart(text, at, text.length)
  const end = findContentEnd(text, start, findLineEnd(text, start))
  // `…rain.[webpage 1 end]`
  const isApart = text.slice(at, start).includes('\n') || '[<'.includes(text[start] ?? ' ')
  return isApart && closes(text, start, end, number) ? end : at
}

function closes(text: string, start: number, end: number, number: number | undefined): boolean {
  if (end - start > LONGEST_LINE) return false
  const closing = CLOSING.exec(text.slice(start, end).trim())
  return closing !== null && Number(closing[1] ?? closing[2]) === number
}
