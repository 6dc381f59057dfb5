import type { BlockSpan, ContextList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { namesOrigin, namesTitle } from '../../scan/labels/find-record-head.ts'
import { findOwn } from '../find-own.ts'

const FIELD = /([ \t]{4,16})(\p{L}[\p{L}_ ]{0,24}): /uy
const LONGEST_FIELD = 600

/** The fields at the beginning and at the end of a record, with their indentation. */
interface Frame {
  readonly start: number
  readonly end: number
  readonly first: string
  readonly last: string
}

/**
 * Finds records that the loop of a template wrote: `Name: …` and `Value: …` above each text, `Link: …` and a rule below
 * it. These lines are indented alike. The lines of the texts are not.
 */
export function findIndentedRecords({ text, loopRules }: Marks, region: Region): ContextList[] {
  const rules = findOwn(loopRules, region)
  if (rules.length < 2) return []
  const frames: Frame[] = []
  const rule = lineAt(text, rules[0]!.start)
  // the second record shows what the first one begins with
  const second = readFrame(text, findLineEnd(text, rules[0]!.start) + 1, rules[1]!.start)
  if (second === undefined) return []
  for (const [i, { start: end }] of rules.entries()) {
    const from = i === 0 ? findOnly(text, second.first, region.start, end) : findLineEnd(text, rules[i - 1]!.start) + 1
    const frame = from === undefined ? undefined : readFrame(text, from, end)
    const isAlike = frame?.first === second.first && frame.last === second.last && lineAt(text, end) === rule
    if (!isAlike || findOnly(text, second.first, frame.start, frame.end) !== frame.start) return []
    frames.push(frame)
  }
  const blocks = frames.map(({ start, end }): BlockSpan => {
    const contentStart = findContentStart(text, start, end)
    return { start: contentStart, end, contentStart, contentEnd: end }
  })
  const end = blocks.at(-1)!.end
  return [{ blocks, positional: false, labelPrefix: '', form: 'record', weight: 'strong', end }]
}

function lineAt(text: string, line: number): string {
  return text.slice(line, findLineEnd(text, line)).trimEnd()
}

/** Returns the only line in this range that begins with this indented field. */
function findOnly(text: string, field: string, from: number, to: number): number | undefined {
  const begins = text.startsWith(field, from)
  const next = text.indexOf(`\n${field}`, from)
  const found = begins ? from : next < 0 || next >= to ? undefined : next + 1
  const again = text.indexOf(`\n${field}`, found ?? to)
  return again >= 0 && again < to ? undefined : found
}

/**
 * Reads the record in this range. Returns undefined unless its first field gives a title, its last one gives the
 * source, and both are indented alike.
 */
function readFrame(text: string, from: number, to: number): Frame | undefined {
  const end = findContentEnd(text, from, to)
  const lastLine = text.lastIndexOf('\n', end - 1) + 1
  if (lastLine <= from || end - lastLine > LONGEST_FIELD) return undefined
  const [first, last] = [readField(text, from), readField(text, lastLine)]
  if (first === undefined || last === undefined || first.indent !== last.indent) return undefined
  if (!namesTitle(first.name) || !namesOrigin(last.name)) return undefined
  return { start: from, end, first: first.whole, last: last.whole }
}

function readField(
  text: string,
  line: number,
): { readonly whole: string; readonly indent: string; readonly name: string } | undefined {
  FIELD.lastIndex = line
  const [whole, indent = '', name = ''] = FIELD.exec(text) ?? []
  return whole === undefined ? undefined : { whole, indent, name }
}
