import { readCue } from '../scan/find-cue-line.ts'
import { findContentStart, findIndexFrom } from '../scan/find-edges.ts'
import { isKin } from '../scan/find-elements.ts'
import { isNoContext } from '../scan/find-list-heading.ts'
import { findMarks, type Marks, type Place } from '../scan/find-marks.ts'

// a list begins here, of which the other texts may hold the rest
const ANNOUNCED =
  /^(?:#{1,6} |\*\*)?[\w ]{0,40}\b(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|articles)\b[^\n]{0,40}[:：](?:\*\*)?[ \t\r]*\n/i
// what follows belongs to what it ends with: an announcement, or a rule between blocks
const OPEN = /[:：]$|\n[ \t]*(?:-{3,40}|={3,40})$/
const BLANK_LINE = /\n[ \t\r]*\n/

/**
 * Whether these texts, of which the last is the question, may each be a whole document: none holds the mark of a list,
 * or each begins with one and has no other. Else a document may go on in the next text, which only its writer knows.
 */
export function areWholeParts(texts: readonly string[]): boolean {
  const question = texts.at(-1)!.trim()
  const parts = texts.slice(0, -1)
  if (parts.some((text) => OPEN.test(text.slice(-200).trimEnd()) || ANNOUNCED.test(text.slice(0, 200).trimStart())))
    return false
  const asked = readLabels(question)
  if (asked === undefined) return false
  const labels = parts.map(readLabels)
  if (labels.every((own) => own?.length === 0)) return asked.length === 0
  // what follows the last label may go on with its block as long as the paragraph is not the last
  const isSure = !BLANK_LINE.test(question) || readCue(question, 0) !== undefined
  return isSure && asked.length === 0 && labels.every((own) => own?.length === 1 && own[0]!.start === 0)
}

/** Where blocks of a list may begin in a text, counted from its content; undefined when there are other marks. */
function readLabels(whole: string): Place[] | undefined {
  const text = whole.slice(findContentStart(whole, 0, whole.length))
  const marks = findMarks(text)
  if (marks === undefined || marks.tags.some(({ begins, name }) => begins && isKin(name))) return undefined
  // `[1]: text`, as in links, is no label, but may be a mark of somebody
  const numbers = marks.values.filter(({ start }) => /^\[\d{1,6}\]/.test(text.slice(start, start + 8)))
  const labels = leaveOutNotes(marks)
  return [
    ...labels,
    ...numbers.filter(({ start }) => marks.labels[findIndexFrom(marks.labels, start)]?.start !== start),
  ]
}

/** The labels without those of a bibliography, which a document holds itself. */
function leaveOutNotes({ text, labels }: Marks): Place[] {
  const notes = new Set<string>()
  return labels.filter((label) => {
    if (isNoContext(text, label)) notes.add(label.form)
    return !notes.has(label.form)
  })
}
