import type { BlockSpan, ContextList } from '../../context-list.ts'
import { tellsOrder } from '../../order/tells-order.ts'
import { findContentEnd, findContentStart } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'

const NAMES = 'snippet|title|link|url|source|date|description|content|text|summary'
const FIRST = new RegExp(`(\\[?)(${NAMES}): `, 'iy')
const TEXT = /^(?:snippet|description|content|text|summary)$/i
const ADDRESS = /^(?:link|url|source)$/i
const ADDRESSED = /^https?:\/\/[^\s,[\]]{1,500}$/

/** A field within a record on one line. */
interface Field {
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * Finds the records that a search tool returns on one line each, or all on the same one: `snippet: It rained,
 * title: Oslo, link: https://a.example, snippet: …`. All have the same fields once, and an address without spaces.
 */
export function findInlineRecords({ text, source }: Marks, region: Region): ContextList[] {
  if (source !== 'search' || region.container || region.elements.length > 0) return []
  const start = findContentStart(text, region.start, region.end)
  FIRST.lastIndex = start
  const [opening, bracket = '', name = ''] = FIRST.exec(text) ?? []
  if (opening === undefined) return []
  const spans = splitRecords(text, { start, end: findContentEnd(text, start, region.end) }, bracket, name)
  const records = spans.map((span) => readRecord(text, span, bracket.length))
  const names = namesOf(records[0])
  const isList =
    spans.length > 1 && names.length > 1 && records.every((record) => namesOf(record).join() === names.join())
  if (!isList || !areSaying(text, records)) return []
  const blocks = spans.map(({ start, end }): BlockSpan => ({ start, end, contentStart: start, contentEnd: end }))
  const isOrdered = tellsOrder(text, records.map(toText))
  const end = blocks.at(-1)!.end
  return [{ blocks, isOrdered, positional: false, labelPrefix: '', form: 'record', weight: 'strong', end }]
}

interface Extent {
  readonly start: number
  readonly end: number
}

/** Returns the records of a text, each of which begins with the same field. */
function splitRecords(text: string, { start, end }: Extent, bracket: string, name: string): Extent[] {
  const close = bracket === '' ? '' : ']'
  const joint = new RegExp(`${close && '\\]'}(?:,[ \\t]?|[ \\t]?\\r?\\n\\s{0,4})${bracket && '\\['}(?=${name}: )`, 'g')
  const spans: Extent[] = []
  let at = start
  joint.lastIndex = start
  for (let match = joint.exec(text); match !== null && match.index < end; match = joint.exec(text)) {
    spans.push({ start: at, end: match.index + close.length })
    at = match.index + match[0].length - bracket.length
  }
  return [...spans, { start: at, end }]
}

/** Returns the fields of a record. Empty if it is not on one line, or not between brackets like the others. */
function readRecord(text: string, { start, end }: Extent, bracket: number): Field[] {
  const body = text.slice(start + bracket, end - bracket)
  if (body.includes('\n') || (bracket > 0 && text[end - 1] !== ']')) return []
  const marks = [...body.matchAll(new RegExp(`(?:^|, )(${NAMES}): `, 'gi'))]
  return marks.map((match, i): Field => {
    const from = start + bracket + match.index + match[0].length
    const to = start + bracket + (marks[i + 1]?.index ?? body.length)
    return { name: match[1]!, from, to }
  })
}

function namesOf(record: readonly Field[] | undefined): string[] {
  return (record ?? []).map(({ name }) => name)
}

/** Returns whether each of these has an address and a text, but no field twice. */
function areSaying(text: string, records: readonly (readonly Field[])[]): boolean {
  return records.every((record) => {
    const names = namesOf(record)
    const address = record.find(({ name }) => ADDRESS.test(name))
    const isWhole = new Set(names).size === names.length && names.some((name) => TEXT.test(name))
    return isWhole && address !== undefined && ADDRESSED.test(text.slice(address.from, address.to).trim())
  })
}

function toText(record: readonly Field[]): BlockSpan {
  const { from, to } = record.find(({ name }) => TEXT.test(name))!
  return { start: from, end: to, contentStart: from, contentEnd: to }
}
