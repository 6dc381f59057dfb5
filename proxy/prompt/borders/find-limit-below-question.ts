import type { Label } from '../scan/labels/label.ts'
import type { LabelledRegion, LabelRun } from './find-label-run.ts'
import { hasQuestionBefore } from './find-list-end.ts'
import { endsInPrompt, endsInPromptLine } from './find-list-tail.ts'
import { isPromptLine } from './find-prompt-heading.ts'
import type { Interior } from './list-interior.ts'

/** Returns the end of the list if the question comes before it, unless the prompt may continue after the last block. */
export function findLimitBelowQuestion(
  { marks, lines }: LabelledRegion,
  { labels, limit }: LabelRun,
  interior: Interior,
): number | undefined {
  const { start } = labels[0]!
  const isAsked = marks.asked && (interior.blank || isNoLonger(marks.text, labels, interior, limit))
  const isAskedBefore = hasQuestionBefore(lines, start) || asksInLine(marks.text, start)
  if (!isAsked && !isAskedBefore) return undefined
  const from = labels.at(-1)!.end
  if (announcesAlone(marks.text, labels, limit)) return undefined
  const goesOn = lines.notes.some(({ kind, start }) => {
    if (start < from || start >= limit) return false
    return kind === 'rule' ? !interior.rule : typeof kind === 'object' && kind.question
  })
  return goesOn || endsInPrompt(marks.text, from, limit) || endsInPromptLine(marks.text, from, limit)
    ? undefined
    : limit
}

/**
 * Returns whether the words before a first block, on its line, contain the question, as in `Answer this: '…' with this
 * context:`.
 */
function asksInLine(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 1_000), start)
  return /\b(?:query|question|task)\b[^\n]{0,20}['"“:：]/i.test(before.slice(before.lastIndexOf('\n') + 1))
}

// behind a blank line, `Instrucciones:`, but no line of code
const ANNOUNCEMENT =
  /(?<=\n[ \t]*\r?\n)[ \t]*[#*]{0,4}[ \t]?[\p{Lu}\p{Lo}][^\n:：()=[\]{}]{0,60}[:：]\**[ \t]*\r?(?=\n)/gu

/** Returns whether a paragraph of the last block begins with a line for instructions, such as `Requirements:`. */
export function announcesInstructions(text: string, from: number, limit: number): boolean {
  return findAnnouncements(text, from, limit).some((at) => isPromptLine(text, at))
}

/** Returns whether a paragraph of the last block, but none of another block, begins with a short line and a colon. */
function announcesAlone(text: string, labels: readonly Label[], limit: number): boolean {
  const isAnnouncing = ({ end }: Label, i: number): boolean =>
    findAnnouncements(text, end, labels[i + 1]?.start ?? limit).length > 0
  return isAnnouncing(labels.at(-1)!, labels.length - 1) && !labels.slice(0, -1).some(isAnnouncing)
}

function findAnnouncements(text: string, from: number, to: number): number[] {
  return [...text.slice(from, to).matchAll(ANNOUNCEMENT)].map(({ index }) => from + index)
}

/**
 * Returns whether a last block at the end of the text has no more lines than the other blocks. A further line may
 * belong to the prompt.
 */
function isNoLonger(text: string, labels: readonly Label[], { ends }: Interior, limit: number): boolean {
  const lines = ({ end }: Label, to: number): number => text.slice(end, to).trim().split('\n').length
  const most = Math.max(...ends.map((end, i) => lines(labels[i]!, end)))
  return lines(labels.at(-1)!, limit) <= most
}
