import { findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import { type LineNote, type LineNotes, levelOf } from '../scan/find-line-notes.ts'
import type { Marks } from '../scan/find-marks.ts'
import type { Label } from '../scan/labels/label.ts'
import { findClosingLine, findOpening } from './find-closing-line.ts'
import type { CueLine } from './find-cue-doubt.ts'
import { findOwnClosing } from './find-numbered-closings.ts'
import { isPromptHeading } from './find-prompt-heading.ts'
import type { Interior, Quotes } from './list-interior.ts'

/** Returns the end of the sign that closes the last block: as many signs as opened it, once at the end of a line. */
function findQuoteEnd(text: string, { end: from }: Label, { open, close }: Quotes, limit: number): number | undefined {
  const start = findContentStart(text, from, limit)
  let count = 0
  while (text[start + count] === open) count++
  if (count === 0) return undefined
  const sign = close.repeat(count)
  let found: number | undefined
  for (let at = text.indexOf(sign, start + count); at >= 0 && at < limit; at = text.indexOf(sign, at + count)) {
    const end = at + count
    const lineEnd = findLineEnd(text, end)
    if (findContentStart(text, end, lineEnd) < lineEnd) continue
    if (found !== undefined) return undefined
    found = end
  }
  return found
}

/** Where a last block may end. */
export interface Ending {
  /** At its first blank line. */
  readonly paragraph: number | undefined
  /**
   * At a cue line, at the end of an element or quotation around the list, or at something else that no earlier block
   * contains.
   */
  readonly certain: number | undefined
  /** The cue line at `certain`, if it is one. */
  readonly cue: CueLine | undefined
  /** The end of an element, quotation or fence around the list, or the numbered closing of the last block. */
  readonly closing: number | undefined
  /** Where the list ends, if the last block has its own closing. */
  readonly listEnd?: number
  /** The cue is said in a talk, or announces an answer. Since a question follows, it is a line of the document. */
  readonly isAnsweredFirst?: boolean
}

/** Searches for the end of a list's last block, from its label up to `limit`. */
export function findEnding(
  marks: Marks,
  { blanks, notes, headings }: LineNotes,
  labels: readonly Label[],
  interior: Interior,
  limit: number,
): Ending {
  const { text } = marks
  const from = labels.at(-1)!.end
  const own = findOwnEnd(text, labels, interior, limit)
  if (own !== undefined) {
    return { paragraph: undefined, certain: own.start, cue: undefined, closing: own.start, listEnd: own.end }
  }
  const closing = findClosingMark(marks, labels[0]!.start, from, limit)
  const bound = closing ?? findItemEnd(text, labels, from, limit) ?? limit
  const paragraph = blanks[findIndexFrom(blanks, from)]?.start ?? bound
  const fence = findFence(text, notes, labels, bound)
  if (fence !== undefined) {
    return { paragraph: paragraph < fence ? paragraph : undefined, certain: fence, cue: undefined, closing: fence }
  }
  const isRecord = labels[0]!.keys !== undefined
  // if no heading of this level comes before the list, the heading may belong to the last document
  const isKnown = ({ start }: LineNote): boolean => (headings.get(levelOf(text, start)) ?? start) < labels[0]!.start
  const isEnd = (note: LineNote): boolean =>
    isCertainEnd(text, note, interior, isRecord) &&
    (note.kind !== 'heading' || isKnown(note) || isPromptHeading(text, note.start))
  let at = findIndexFrom(notes, findLineEnd(text, from))
  while (at < notes.length && notes[at]!.start < bound && !isEnd(notes[at]!)) at++
  const note = at < notes.length && notes[at]!.start < bound ? notes[at] : undefined
  return {
    paragraph: paragraph < bound ? paragraph : undefined,
    certain: note?.start ?? (bound < limit ? bound : closing),
    ...readCueNote(note, notes, at, bound),
    closing,
  }
}

// one side of a talk
const SPEAKERS = /^(?:user|human)$/

function readCueNote(
  note: LineNote | undefined,
  notes: readonly LineNote[],
  at: number,
  bound: number,
): Pick<Ending, 'cue' | 'isAnsweredFirst'> {
  if (note === undefined || !isCue(note)) return { cue: undefined }
  const isSaid = note.kind.answer || SPEAKERS.test(note.kind.kind)
  return { cue: note, isAnsweredFirst: isSaid && asksLater(notes, at, bound) }
}

function asksLater(notes: readonly LineNote[], from: number, bound: number): boolean {
  return notes
    .slice(from + 1)
    .some((note) => note.start < bound && note.behindBlank && isCue(note) && note.kind.question)
}

/**
 * Returns where the last block ends by the same closing as every other block: a line with its number, or a closing quote.
 */
function findOwnEnd(
  text: string,
  labels: readonly Label[],
  { closed, quotes }: Interior,
  limit: number,
): { readonly start: number; readonly end: number } | undefined {
  const last = labels.at(-1)!
  const quoted = quotes && findQuoteEnd(text, last, quotes, limit)
  if (quoted !== undefined) return { start: quoted, end: quoted }
  return closed ? findOwnClosing(text, last, limit) : undefined
}

function isCue(note: LineNote): note is LineNote & CueLine {
  return typeof note.kind === 'object'
}

function findClosingMark(marks: Marks, listStart: number, from: number, limit: number): number | undefined {
  const tag = findClosing(marks, listStart, from, limit)
  const opening = findOpening(marks.text, 0, listStart)
  return (opening && findClosingLine(marks.text, opening, from, tag ?? limit)) ?? tag
}

/** Returns the rule right before a list, if there is one. */
export function findOpeningRule(text: string, notes: readonly LineNote[], listStart: number): string | undefined {
  const note = notes[findIndexFrom(notes, listStart) - 1]
  const isAbove = note?.kind === 'rule' && findContentStart(text, note.end, listStart) === listStart
  return isAbove ? text.slice(note.start, note.end).trim() : undefined
}

/**
 * Returns the position of the rule that closes a list opened by the same rule. Undefined if the rule occurs elsewhere
 * too.
 */
function findFence(
  text: string,
  notes: readonly LineNote[],
  labels: readonly Label[],
  bound: number,
): number | undefined {
  const first = findIndexFrom(notes, labels[0]!.start)
  const rule = findOpeningRule(text, notes, labels[0]!.start)
  if (rule === undefined) return undefined
  let closing: number | undefined
  for (let at = first; at < notes.length && notes[at]!.start < bound; at++) {
    const { kind, start, end } = notes[at]!
    if (kind !== 'rule' || text.slice(start, end).trim() !== rule) continue
    if (closing !== undefined || start < labels.at(-1)!.end) return undefined
    closing = start
  }
  return closing
}

function isCertainEnd(
  text: string,
  { kind, behindBlank, start, end }: LineNote,
  interior: Interior,
  isRecord: boolean,
): boolean {
  if (typeof kind === 'object') return !interior.cues.has(kind.kind)
  if (kind === 'rule' && text.slice(start, end).trim() === interior.separator) return true
  // records are whole documents, and only one of them may have headings
  return behindBlank && !interior[kind] && !isRecord
}

/** Returns the closing tag, up to `limit`, of an element opened before the list. Tags within lines are content. */
export function findClosing({ tags }: Marks, listStart: number, from: number, limit: number): number | undefined {
  for (let i = findIndexFrom(tags, from); i < tags.length && tags[i]!.start <= limit; i++) {
    const { closing, partner, start, begins } = tags[i]!
    if (closing && partner !== undefined && partner.start < listStart && (begins || partner.begins)) return start
  }
  return undefined
}

/** Returns whether a line before a list introduces the question. */
export function hasQuestionBefore({ notes }: LineNotes, listStart: number): boolean {
  return notes.some(({ kind, start }) => start < listStart && typeof kind === 'object' && kind.question)
}

// the sign of an item, in front of the list's first block on its line
const ITEM = /^[ \t]{0,3}(?:[-*•]|\d+[.)]) (?=\S)/

function readItem(text: string, [first]: readonly Label[]): string | undefined {
  const line = text.lastIndexOf('\n', first!.start - 1) + 1
  return ITEM.exec(text.slice(line, first!.start))?.[0]
}

/**
 * Returns where the next instruction begins, if the list's blocks end one item of a list of instructions, as in `- Use
 * this context: Source: …`. Undefined if blocks contain such items themselves.
 */
function findItemEnd(text: string, labels: readonly Label[], from: number, limit: number): number | undefined {
  const item = readItem(text, labels)
  const next = item === undefined ? -1 : text.indexOf(`\n${item}`, labels[0]!.start)
  return next >= from && next < limit ? next + 1 : undefined
}

/** Returns whether a list ends one of several instructions and nothing shows where the next instruction begins. */
export function isOpenItem(text: string, labels: readonly Label[], limit: number): boolean {
  const isItem = readItem(text, labels) !== undefined
  return isItem && findItemEnd(text, labels, labels.at(-1)!.end, limit) === undefined
}
