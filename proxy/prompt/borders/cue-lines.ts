import { type Cue, readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import type { LineNote, LineNotes } from '../scan/find-line-notes.ts'
import type { Marks } from '../scan/find-marks.ts'
import { findParagraphEnd } from './prompt-lines.ts'

/* Lines that lead from the blocks of a prompt to its question, or only seem to. */

/** A cue line after a last block. */
export type CueNote = LineNote & { readonly kind: Cue }

export function isCue(note: LineNote): note is CueNote {
  return typeof note.kind === 'object'
}

/** Returns whether a line before a list introduces the question, or its own line up to it does. */
export function asksBefore(text: string, { notes }: LineNotes, listStart: number): boolean {
  if (notes.some((note) => note.start < listStart && isCue(note) && note.kind.question)) return true
  // `Answer this: '…' with this context:`
  const before = text.slice(Math.max(0, listStart - 1_000), listStart)
  return /\b(?:query|question|task)\b[^\n]{0,20}['"“:：]/i.test(before.slice(before.lastIndexOf('\n') + 1))
}

// one side of a talk
const SPEAKERS = /^(?:user|human)$/

/** Returns whether a cue is said in a talk, or announces an answer. */
export function isSaid({ kind }: CueNote): boolean {
  return kind.answer || SPEAKERS.test(kind.kind)
}

/** Returns whether a line behind a blank one introduces the question. */
export function asks(note: LineNote): boolean {
  return note.behindBlank && isCue(note) && note.kind.question
}

/** Returns whether the prompt continues after a container with more than an `Answer:`. */
export function isFollowed({ text, tags, turns }: Marks, { end }: Region): boolean {
  const limit = turns[findIndexFrom(turns, end + 1) - 1]!.end
  const start = findContentStart(text, tags[findIndexFrom(tags, end)]!.end, limit)
  const cue = readCue(text, start)
  const isOpening = cue?.answer && cue.empty && findContentStart(text, findLineEnd(text, start), limit) === limit
  return start < limit && !isOpening
}

// `Helpful answer in German:`
const LONGEST_OPENING = 60

/**
 * Returns whether the cue line that would end the last block may be part of it, as in a list of questions and answers,
 * or in prose with a line that begins `based on the results`. `bound` is the furthest possible end of the block; if
 * `closed`, the list's closing mark is there.
 */
export function mayBeInside(
  text: string,
  { start, kind, behindBlank }: CueNote,
  bound: number,
  closed: boolean,
): boolean {
  const contentEnd = findContentEnd(text, start, bound)
  const lastLine = text.lastIndexOf('\n', contentEnd - 1) + 1
  // the model is to complete a final `Answer:`
  const isPrompted = lastLine > start && isOpening(text, lastLine, contentEnd)
  const end = isPrompted ? findContentEnd(text, start, lastLine) : contentEnd
  const paragraphEnd = findParagraphEnd(text, start, end)
  const isLast = findContentStart(text, paragraphEnd, end) === end
  const { isAnswered, asks } = readParagraph(text, start, paragraphEnd)
  if (behindBlank) return kind.question && isAnswered && (!isLast || (closed && !isPrompted))
  // an answer on the line of its cue is the document's
  if (kind.answer && !kind.empty) return true
  // wrapped lines of prose begin in lower case
  if (!isLast || /^\s*\p{Ll}/u.test(text.slice(start, start + 20)) || (isAnswered && !isPrompted)) return true
  // within the paragraph of a block, only a line that asks is certainly not part of the block
  return !(findLineEnd(text, start) >= paragraphEnd || isPrompted || asks)
}

function isOpening(text: string, line: number, end: number): boolean {
  const cue = readCue(text, line)
  return (cue?.answer && cue.empty) || (end - line <= LONGEST_OPENING && /[:：]\**$/.test(text.slice(line, end)))
}

/** Returns whether a paragraph contains an answer that is not left to the model, and whether it asks. */
function readParagraph(text: string, start: number, end: number): { isAnswered: boolean; asks: boolean } {
  let isAnswered = false
  let asks = /[?？]\s*$/.test(text.slice(Math.max(start, end - 8), end))
  for (let line = start; line < end; line = findLineEnd(text, line) + 1) {
    const cue = readCue(text, line)
    if (cue?.question) asks = true
    if (cue?.answer && !cue.empty && line > start) isAnswered = true
  }
  return { isAnswered, asks }
}
