import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { namesOrigin, namesText } from '../../scan/labels/find-record-head.ts'
import { isRunning } from '../../scan/labels/label.ts'
import { datedField, orderedField, toFieldName } from '../../scan/words/ordered-fields.ts'
import { findOwn } from '../find-own.ts'

const NUMBERS = /^(?:#|№|no\.?|nr\.?|n°|id|index|编号|序号|番号)$/i
const NUMBER = /\|[ \t]*(\d{1,4})[ \t]*(?=\|)/y
const LONGEST_HEADER = 400

/** Finds the rows of tables whose columns hold texts and their sources. */
export function findTableLists(marks: Marks, region: Region): ContextList[] {
  const { text } = marks
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  const lists: ContextList[] = []
  let at = region.start
  for (const { start } of findOwn(marks.tables, region)) {
    at = fences.pass(at, start, region.end)
    const columns = at > start ? undefined : readColumns(text, start)
    if (columns === undefined) continue
    const rows = readRows(text, findLineEnd(text, findLineEnd(text, start) + 1) + 1, region.end, columns.length)
    if (rows !== undefined && rows.length > 1) lists.push(toList(text, rows, NUMBERS.test(columns[0]!)))
  }
  return lists
}

/** Returns the names of the columns, if they are those of retrieved texts and none shows an order. */
function readColumns(text: string, start: number): readonly string[] | undefined {
  const end = findLineEnd(text, start)
  if (end - start > LONGEST_HEADER) return undefined
  const names = cellsOf(text.slice(start, end))
  const isOfTexts = names.some(namesText) && names.some(namesOrigin)
  const isOrdered = names.map(toFieldName).some((name) => datedField.test(name) || orderedField.test(name))
  return isOfTexts && !isOrdered ? names : undefined
}

/**
 * Returns the rows from `from` on. Undefined if a row has more or fewer cells than the header, because a text may
 * contain `|`.
 */
function readRows(text: string, from: number, limit: number, columns: number): BlockSpan[] | undefined {
  const rows: BlockSpan[] = []
  for (let line = from; line < limit; line = findLineEnd(text, line) + 1) {
    const lineEnd = Math.min(findLineEnd(text, line), limit)
    const start = findContentStart(text, line, lineEnd)
    if (text[start] !== '|') break
    const end = findContentEnd(text, start, lineEnd)
    if (cellsOf(text.slice(start, end)).length !== columns) return undefined
    rows.push({ start, end, contentStart: start, contentEnd: end })
  }
  return rows
}

function cellsOf(row: string): string[] {
  const inside = row.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inside.split('|').map((cell) => cell.trim())
}

function toList(text: string, rows: readonly BlockSpan[], isNumbered: boolean): ContextList {
  const numbered = isNumbered ? rows.map((row) => withNumber(text, row)) : []
  const positional = isNumbered && isRunning(numbered.map(({ label }) => label && text.slice(label.start, label.end)))
  const blocks = positional ? numbered : rows
  return { blocks, positional, labelPrefix: '', form: 'items', weight: 'weak', end: rows.at(-1)!.end }
}

/** Returns a row with the number in its first cell as label. Its content begins after that cell. */
function withNumber(text: string, row: BlockSpan): BlockSpan {
  NUMBER.lastIndex = row.start
  const match = NUMBER.exec(text)
  if (match === null) return row
  const start = row.start + match[0].indexOf(match[1]!)
  const contentStart = row.start + match[0].length
  return { label: { start, end: start + match[1]!.length }, ...row, contentStart }
}
