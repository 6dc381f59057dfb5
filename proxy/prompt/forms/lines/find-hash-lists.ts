import { hasQuestionBefore } from '../../borders/find-list-end.ts'
import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { findLastRule, type LineNote, readLineNotes } from '../../scan/find-line-notes.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { announcingWords } from '../../scan/words/vocabulary.ts'
import { findOwn } from '../find-own.ts'

// `Context: It rained.`, `Sources:`
const ANNOUNCEMENT = /^[ \t]{0,3}(?:#{1,6} |\*\*)?([\p{L}][\p{L} _-]{2,40})[:：](?:\*\*)?(?=\s)/u
const WORDS = new RegExp(announcingWords, 'iu')
const MOST_LINES_ABOVE = 400

/**
 * Finds texts that are separated by lines of only `###`. They begin after the words that announce them, on the same line
 * or below it. A heading is never empty, so texts contain no such lines. The last text ends above the only line for a
 * question, or above a rule before that line.
 */
export function findHashLists({ text, hashes, whole }: Marks, region: Region): ContextList[] {
  const own = findOwn(hashes, region)
  const [first] = own
  const last = own.at(-1)
  if (first === undefined || last === undefined || whole) return []
  const start = findAnnounced(text, region.start, first.start)
  const end = start === undefined ? undefined : findEnd(text, region, start, last.start)
  if (start === undefined || end === undefined || announcesAgain(text, start, end)) return []
  const blocks: BlockSpan[] = []
  let from = start
  for (const { start: limit } of [...own, { start: end }]) {
    const contentStart = findContentStart(text, from, limit)
    const contentEnd = findContentEnd(text, contentStart, limit)
    if (contentEnd === contentStart) return []
    blocks.push({ start: contentStart, end: contentEnd, contentStart, contentEnd })
    from = findLineEnd(text, limit)
  }
  return [{ blocks, positional: false, labelPrefix: '', form: 'rules', weight: 'strong', end: blocks.at(-1)!.end }]
}

/** Returns the end of the words that announce a list before `to`. Undefined if several lines may be these words. */
function findAnnounced(text: string, from: number, to: number): number | undefined {
  let found: number | undefined
  let count = 0
  for (let line = from; line < to && count < MOST_LINES_ABOVE; line = findLineEnd(text, line) + 1) {
    count++
    const match = ANNOUNCEMENT.exec(text.slice(line, Math.min(line + 64, to)))
    if (match === null || !WORDS.test(match[1]!)) continue
    if (found !== undefined) return undefined
    found = line + match[0].length
  }
  return count < MOST_LINES_ABOVE ? found : undefined
}

/** Returns whether another line begins like the one that announces the list. Each piece is then a separate example. */
function announcesAgain(text: string, start: number, end: number): boolean {
  const words = text.slice(text.lastIndexOf('\n', start - 2) + 1, start).trim()
  const again = text.indexOf(`\n${words}`, start)
  return again >= 0 && again < end
}

/** Returns where the last text ends: above the only question, which comes after the last separator. */
function findEnd(text: string, region: Region, start: number, separator: number): number | undefined {
  const lines = readLineNotes(text, region)
  const questions = lines.notes.filter((note) => typeof note.kind === 'object' && note.kind.question)
  const [question] = questions
  if (question === undefined || questions.length > 1 || question.start < separator) return undefined
  if (hasQuestionBefore(lines, start)) return undefined
  // examples with their answers are separated like this, too
  const isAnswer = ({ kind, start: at }: LineNote): boolean =>
    typeof kind === 'object' && kind.answer && at > start && at < question.start
  if (lines.notes.some(isAnswer)) return undefined
  const end = findContentEnd(text, separator, question.start)
  const rule = findLastRule(text, separator, end)
  if (rule === undefined) return question.behindBlank ? end : undefined
  // of two rules, one may be the text's own
  return findLastRule(text, separator, rule.bodyEnd) === undefined ? rule.bodyEnd : undefined
}
