import { type BlockSpan, type ContextList, toList } from '../../context-list.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, matchAt } from '../../scan/find-edges.ts'
import { findOwn, type Region } from '../../scan/find-elements.ts'
import { closes, type Fence } from '../../scan/find-fences.ts'
import type { Marks, Place } from '../../scan/find-marks.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'

const MATERIAL = new RegExp(materialWords, 'iu')
// `src/a.ts`, `README.md`: no spaces, and a dot or a slash
const PATH =
  /^(?:[\p{L}\p{M}\p{N}_@.+-]+\/)*[\p{L}\p{M}\p{N}_@.+-]+\.[A-Za-z]\w{0,9}$|^(?:[\p{L}\p{M}\p{N}_@.+-]+\/)+[\p{L}\p{M}\p{N}_@.+-]+$/u
// `### src/a.ts`, `**src/a.ts**`, `` File: `src/a.ts`: ``
const DRESSED =
  /^((?:#{1,6}[ \t]+)?(?:\*\*)?(?:(?:file|path|filename)[:：][ \t]*)?[`*]{0,3})([\p{L}\p{M}\p{N}_@.+/-]{1,160}?)[`*]{0,3}[:：]?(?:\*\*)?$/iu
const LONGEST_HEADING = 200

/** A text between two lines of quotes or fences, with the line above it. */
interface Quotation {
  readonly start: number
  readonly end: number
  readonly inside: Place & { readonly end: number }
  readonly heading: string
}

/**
 * Finds lists of quotations that each follow a line saying what they are: the same words for all (`Article:` and
 * `"""`), or the path of a file (`src/a.ts` and fenced code). There must be no text between them, unlike in a guide.
 */
export function findQuotedLists(marks: Marks, region: Region): ContextList[] {
  const quotes = findOwn(marks.quotes, region)
  const fences = findOwn(marks.fences, region)
  return [
    ...(quotes.length < 4 ? [] : toLists(marks.text, readQuotations(marks.text, quotes, region), 'quoted')),
    ...(fences.length < 4 ? [] : findFiles(marks, fences, region)),
  ]
}

/** Finds files below their paths. Files that contain fenced code are found only if no text follows the last file. */
function findFiles({ text }: Marks, fences: readonly Fence[], region: Region): ContextList[] {
  const files = fences
    .map(({ start, end }) => toQuotation(text, region, start, { start: end + 1, end: end + 1 }, end))
    .filter(({ heading }) => PATH.test(heading))
  // most fenced code follows ordinary words
  if (files.length < 2) return []
  const lists = toLists(text, readFenced(text, fences, region), 'fenced')
  return lists.length > 0 ? lists : toLists(text, readWholeFiles(text, fences, files, region), 'fenced')
}

function readWholeFiles(
  text: string,
  fences: readonly Fence[],
  files: readonly Quotation[],
  region: Region,
): Quotation[] {
  return files.flatMap((file, i) => {
    const end = findContentEnd(text, file.end, files[i + 1]?.start ?? region.end)
    const close = fences[findIndexFrom(fences, text.lastIndexOf('\n', end - 1) + 1)]
    // a path inside a file has no closing fence before it
    if (close === undefined || !close.bare || close.start < file.end || close.start >= end || close.end < end) return []
    return [{ ...file, end, inside: { start: file.inside.start, end: close.start } }]
  })
}

function readQuotations(text: string, quotes: readonly Place[], region: Region): Quotation[] {
  const found: Quotation[] = []
  for (let i = 0; i + 1 < quotes.length; i += 2) {
    const [open, close] = [quotes[i]!.start, quotes[i + 1]!.start]
    const end = close + 3
    if (findContentEnd(text, end, findLineEnd(text, end)) > end) return []
    found.push(toQuotation(text, region, open, { start: findLineEnd(text, open) + 1, end: close }, end))
  }
  return found
}

function readFenced(text: string, fences: readonly Fence[], region: Region): Quotation[] {
  const found: Quotation[] = []
  for (let i = 0; i < fences.length; ) {
    const open = fences[i]!
    let close = i + 1
    while (close < fences.length && !closes(fences[close]!, open)) close++
    if (close === fences.length) return found
    const { start, end } = fences[close]!
    const quotation = toQuotation(text, region, open.start, { start: open.end + 1, end: start }, end)
    // code without a name belongs to the text around it
    if (PATH.test(quotation.heading)) found.push({ ...quotation, end: findContentEnd(text, start, end) })
    i = close + 1
  }
  return found
}

function toQuotation(text: string, region: Region, open: number, inside: Quotation['inside'], end: number): Quotation {
  const headingEnd = findContentEnd(text, region.start, open)
  const start = Math.max(text.lastIndexOf('\n', headingEnd - 1) + 1, region.start)
  const lineEnd = findLineEnd(text, headingEnd)
  const next = findLineEnd(text, lineEnd + 1)
  // one blank line may separate a decorated path from its file
  const isAbove = lineEnd < open && (next >= open || findLineEnd(text, next + 1) >= open)
  const line = isAbove && headingEnd - start <= LONGEST_HEADING ? text.slice(start, headingEnd).trim() : ''
  const heading = DRESSED.exec(line)?.[2] ?? (next >= open ? line : '')
  return { start: findContentStart(text, start, open), end, inside, heading }
}

function toLists(text: string, quotations: readonly Quotation[], form: 'quoted' | 'fenced'): ContextList[] {
  const rows: Quotation[][] = []
  for (const quotation of quotations) {
    const before = rows.at(-1)?.at(-1)
    const follows = before !== undefined && findContentStart(text, before.end, quotation.start) === quotation.start
    // all quotations have the same words above them, all files a path
    if (follows && (form === 'fenced' || before.heading === quotation.heading)) rows.at(-1)!.push(quotation)
    else rows.push([quotation])
  }
  return rows.flatMap((row) => {
    const [{ heading }] = row as [Quotation]
    const isList =
      form === 'quoted'
        ? MATERIAL.test(heading) && /[:：]$/.test(heading)
        : new Set(row.map((file) => file.heading)).size === row.length
    const blocks = row.map((quotation) => toBlock(text, quotation))
    return row.length > 1 && isList ? [toList(text, blocks, form, form === 'quoted' ? 'strong' : 'weak')] : []
  })
}

function toBlock(text: string, { start, end, inside }: Quotation): BlockSpan {
  const contentStart = findContentStart(text, Math.min(inside.start, inside.end), inside.end)
  return { start, end, contentStart, contentEnd: findContentEnd(text, contentStart, inside.end) }
}

// `<b>Content from a.pdf (Page 3): </b>`
const CREDIT = /<b>(?:content|source|document|text|excerpt|passage|file|article)\b[^<\n]{0,300}[:：][ \t]*<\/b>/iy
const BREAKS = /(?:\s|<br ?\/?>)+$/i

/** Finds the list whose blocks begin with bold HTML text naming their source and are separated by HTML line breaks. */
export function findBoldLists(marks: Marks, region: Region): ContextList[] {
  const { text } = marks
  const blocks: BlockSpan[] = []
  for (const { start } of findOwn(marks.bolds, region)) {
    if (!matchAt(CREDIT, text, start)) continue
    // the text is a single line, because the lines below it may belong to the prompt
    const lineEnd = findLineEnd(text, start)
    const next = marks.bolds[findIndexFrom(marks.bolds, start + 1)]?.start ?? region.end
    const limit = Math.min(lineEnd, next, region.end)
    const end = limit - (BREAKS.exec(text.slice(start, limit))?.[0].length ?? 0)
    if (next !== limit && !/^<br/i.test(text.slice(lineEnd + 1, lineEnd + 4))) return []
    blocks.push({ start, end, contentStart: start, contentEnd: end })
  }
  return blocks.length < 2 ? [] : [toList(text, blocks, 'credited', 'strong')]
}
