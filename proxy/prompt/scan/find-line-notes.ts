import { type Cue, readCue } from './find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, isRule, matchAt } from './find-edges.ts'
import type { Region } from './find-elements.ts'

/** A line that may separate a list's last block from the text after it. */
export interface LineNote {
  readonly start: number
  readonly end: number
  readonly kind: 'rule' | 'heading' | Cue
  /** A blank line comes before it. */
  readonly behindBlank: boolean
}

/** The lines of a region that show where blocks end. Lines inside its elements are ignored. */
export interface LineNotes {
  /** Where each run of blank lines begins. */
  readonly blanks: readonly { readonly start: number }[]
  readonly notes: readonly LineNote[]
  /** Where the first heading of each level begins. */
  readonly headings: ReadonlyMap<number, number>
}

const HEADING = /[ \t]{0,3}(#{1,6})[ \t]/y
// `====== Now it begins ======`
const TITLED_RULE = /([-=*~])\1{2,}[ \t][^\n]{1,100}[ \t]\1{3,}[ \t\r]*$/my

/** Reads each line of a region once, so that lists of many forms can share the result. */
export function readLineNotes(text: string, { start: from, end: to, elements }: Region): LineNotes {
  const blanks: { start: number }[] = []
  const notes: LineNote[] = []
  let behindBlank = false
  let next = 0
  for (let start = from; start < to; ) {
    const end = Math.min(findLineEnd(text, start), to)
    while (next < elements.length && elements[next]!.end <= start) next++
    const element = elements[next]
    if (element !== undefined && element.start < end) {
      behindBlank = false
      start = findLineEnd(text, element.end) + 1
      continue
    }
    const kind = readLine(text, start, end)
    if (kind === 'blank' && !behindBlank) blanks.push({ start })
    else if (kind !== 'blank' && kind !== 'text') notes.push({ start, end, kind, behindBlank })
    behindBlank = kind === 'blank'
    start = end + 1
  }
  const question = findShortQuestion(text, from, to)
  if (question !== undefined) {
    notes.push(question)
    notes.sort((a, b) => a.start - b.start)
  }
  return { blanks, notes, headings: firstHeadings(text, notes) }
}

function firstHeadings(text: string, notes: readonly LineNote[]): Map<number, number> {
  const headings = notes.filter(({ kind }) => kind === 'heading')
  return new Map(headings.toReversed().map(({ start }) => [levelOf(text, start), start]))
}

/** Finds `Q: …` after a blank line, if the prompt ends with `A:`. Otherwise it is an ordinary line of a document. */
export function findShortQuestion(text: string, from: number, to: number): LineNote | undefined {
  if (to < text.length || !text.slice(-16).trimEnd().endsWith('\nA:')) return undefined
  const start = text.lastIndexOf('\nQ:') + 1
  if (start <= from || text[start - 2] !== '\n') return undefined
  const kind: Cue = { kind: 'q', question: true, answer: false, empty: false }
  return { start, end: findLineEnd(text, start), kind, behindBlank: true }
}

function readLine(text: string, start: number, end: number): 'blank' | 'text' | LineNote['kind'] {
  const first = findContentStart(text, start, end)
  if (first === end) return 'blank'
  if (isRule(text, first, end)) return 'rule'
  if ('-=*~'.includes(text[first]!) && matchAt(TITLED_RULE, text, first)) return 'rule'
  const cue = readCue(text, start)
  if (cue !== undefined) return cue
  return levelOf(text, start) > 0 ? 'heading' : 'text'
}

/** Returns the level of the heading that begins at `line`, or 0 if there is none. */
export function levelOf(text: string, line: number): number {
  return matchAt(HEADING, text, line)?.[1]?.length ?? 0
}

/** Returns where the first run of blank lines from here on begins, or `otherwise`. */
export function findBlank({ blanks }: LineNotes, from: number, otherwise: number): number {
  return blanks[findIndexFrom(blanks, from)]?.start ?? otherwise
}

/** Returns the notes that begin in this range. */
export function notesIn({ notes }: Pick<LineNotes, 'notes'>, from: number, to: number): readonly LineNote[] {
  return notes.slice(findIndexFrom(notes, from), findIndexFrom(notes, to))
}

/** Returns the rule right before a list, if there is one. */
export function findRuleBefore(text: string, { notes }: LineNotes, listStart: number): string | undefined {
  const note = notes[findIndexFrom(notes, listStart) - 1]
  const isAbove = note?.kind === 'rule' && findContentStart(text, note.end, listStart) === listStart
  return isAbove ? text.slice(note.start, note.end).trim() : undefined
}

/** Returns the rule that is the last line of a block's body, and where the body ends without it. */
export function findLastRule(text: string, from: number, end: number): { bodyEnd: number; text: string } | undefined {
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (start <= from || !isRule(text, findContentStart(text, start, end), end)) return undefined
  return { bodyEnd: findContentEnd(text, from, start), text: text.slice(start, end).trim() }
}
