import { type Cue, readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import { findParagraphEnd } from './find-list-tail.ts'

// `Helpful answer in German:`
const LONGEST_OPENING = 60

/** A cue line after a last block. */
export interface CueLine {
  readonly start: number
  readonly kind: Cue
  readonly behindBlank: boolean
}

/**
 * Returns whether the cue line that would end the last block may be part of it, as in a list of questions and answers,
 * or in prose with a line that begins `based on the results`. `bound` is the furthest possible end of the block; if
 * `closed`, the list's closing mark is there.
 */
export function mayBeInside(
  text: string,
  { start, kind, behindBlank }: CueLine,
  bound: number,
  closed: boolean,
): boolean {
  const end = findPromptEnd(text, start, bound)
  const paragraph = readParagraph(text, start, end)
  const isPrompted = end < findContentEnd(text, start, bound)
  if (behindBlank) {
    return kind.question && paragraph.isAnswered && (!paragraph.isLast || (closed && !isPrompted))
  }
  // an answer on the line of its cue is the document's
  if (kind.answer && !kind.empty) return true
  if (!paragraph.isLast || isWrapped(text, start) || (paragraph.isAnswered && !isPrompted)) return true
  // within the paragraph of a block, only a line that asks is certainly not part of the block
  return !(paragraph.isLine || isPrompted || paragraph.asks)
}

/** Returns where the prompt after the cue at `from` ends, without a final `Answer:` that the model is to complete. */
function findPromptEnd(text: string, from: number, bound: number): number {
  const end = findContentEnd(text, from, bound)
  const last = text.lastIndexOf('\n', end - 1) + 1
  return last > from && isOpening(text, last, end) ? findContentEnd(text, from, last) : end
}

function isOpening(text: string, line: number, end: number): boolean {
  const cue = readCue(text, line)
  return (cue?.answer && cue.empty) || (end - line <= LONGEST_OPENING && /[:：]\**$/.test(text.slice(line, end)))
}

interface Paragraph {
  readonly isLast: boolean
  readonly isLine: boolean
  /** It contains an answer that is not left to the model. */
  readonly isAnswered: boolean
  readonly asks: boolean
}

function readParagraph(text: string, start: number, bound: number): Paragraph {
  const end = findParagraphEnd(text, start, bound)
  let isAnswered = false
  let asks = '?？'.includes(
    text
      .slice(Math.max(start, end - 8), end)
      .trimEnd()
      .at(-1) ?? ' ',
  )
  for (let line = start; line < end; line = findLineEnd(text, line) + 1) {
    const cue = readCue(text, line)
    if (cue?.question) asks = true
    if (cue?.answer && !cue.empty && line > start) isAnswered = true
  }
  const isLast = findContentStart(text, end, bound) === bound
  return { isLast, isLine: findLineEnd(text, start) >= end, isAnswered, asks }
}

// wrapped lines of prose begin in lower case
function isWrapped(text: string, line: number): boolean {
  return /^\s*\p{Ll}/u.test(text.slice(line, line + 20))
}
