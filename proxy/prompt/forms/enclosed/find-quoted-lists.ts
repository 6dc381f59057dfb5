import type { Span } from '../../../common/json/json-spans.ts'
import { type BlockSpan, type ContextList, toList, toRows } from '../../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd, matchAt } from '../../scan/find-edges.ts'
import { findOwn, type Region } from '../../scan/find-elements.ts'
import { closes, type Fence } from '../../scan/find-fences.ts'
import type { Marks, Place } from '../../scan/find-marks.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'

const MATERIAL = new RegExp(`(?:${materialWords}).*[:：]$`, 'iu')
// no spaces, and a dot or a slash: `src/a.ts`, `### README.md`, `**src/a.ts**`, `` File: `src/a.ts`: ``
const NAME = '[\\p{L}\\p{M}\\p{N}_@.+-]+'
const PATH = new RegExp(
  `^(?:#{1,6}[ \\t]+)?(?:\\*\\*)?(?:(?:file|path|filename)[:：][ \\t]*)?[\`*]{0,3}((?:${NAME}/)*${NAME}\\.[A-Za-z]\\w{0,9}|(?:${NAME}/)+${NAME})[\`*]{0,3}[:：]?(?:\\*\\*)?$`,
  'iu',
)
const LONGEST_HEADING = 200

/** A text between two lines of quotes or fences, and what the line above it says. */
interface Quotation extends BlockSpan {
  readonly heading: string
}

/**
 * Finds lists of quotations that each follow a line saying what they are: the same words for all (`Article:` and
 * `"""`), or the path of a file (`src/a.ts` and fenced code). There must be no text between them, unlike in a guide.
 */
export function findQuotedLists({ text, quotes, fences }: Marks, region: Region): ContextList[] {
  const follows = (left: Span, right: Span): boolean => findContentStart(text, left.end, right.start) === right.start
  const quoted = toRows(
    readQuoted(text, findOwn(quotes, region), region),
    (left, right) => left.heading === right.heading && follows(left, right),
  ).filter((row) => row.length > 1 && MATERIAL.test(row[0].heading))
  const own = findOwn(fences, region)
  // two files have four of them
  const files = toRows(readFiles(text, own.length < 4 ? [] : own, region), follows).filter(
    (row) => row.length > 1 && new Set(row.map(({ heading }) => heading)).size === row.length,
  )
  return [
    ...quoted.map((row) => toList(text, row, 'quoted', 'strong')),
    ...files.map((row) => toList(text, row, 'fenced', 'weak')),
  ]
}

/** Reads the texts between lines of three quotes. */
function readQuoted(text: string, quotes: readonly Place[], region: Region): Quotation[] {
  const found: Quotation[] = []
  for (let i = 0; i + 1 < quotes.length; i += 2) {
    const [open, close] = [quotes[i]!.start, quotes[i + 1]!.start]
    const end = close + 3
    if (findContentEnd(text, end, findLineEnd(text, close)) > end) return []
    const { start, line, isNear } = readAbove(text, region, open)
    found.push(toQuotation(text, start, isNear ? line : '', findLineEnd(text, open) + 1, close, end))
  }
  return found
}

/** Reads the fenced texts below paths. */
function readFiles(text: string, fences: readonly Fence[], region: Region): Quotation[] {
  const heads = fences.map(({ start: open }) => {
    const { start, line } = readAbove(text, region, open)
    return { start, path: PATH.exec(line)?.[1] }
  })
  const found: Quotation[] = []
  for (let i = 0; i < fences.length; i++) {
    const { start, path } = heads[i]!
    let next = i + 1
    if (path !== undefined) while (next < fences.length && heads[next]!.path === undefined) next++
    const last = fences[next - 1]!
    const behind = findContentStart(text, last.end, region.end)
    // what a file holds ends where the next file follows at once, or the text ends; code without a path is of the text around it
    const isWhole = next > i + 1 && last.bare && behind === (heads[next]?.start ?? region.end)
    const at = isWhole ? next - 1 : findClosing(fences, i)
    const close = fences[at]
    if (close === undefined) return found
    const end = findContentEnd(text, close.start, close.end)
    if (path !== undefined) found.push(toQuotation(text, start, path, fences[i]!.end + 1, close.start, end))
    i = at
  }
  return found
}

/** Returns the index of the fence that closes this one, beside those in it that name a language; −1 if there is none. */
function findClosing(fences: readonly Fence[], open: number): number {
  let depth = 0
  for (let at = open + 1; at < fences.length; at++) {
    const fence = fences[at]!
    if (!fence.bare) depth++
    else if (depth > 0) depth--
    else if (closes(fence, fences[open]!)) return at
  }
  return -1
}

/** Returns the line above the one at `open`; `isNear` if no blank line is between them, of which there may be one. */
function readAbove(text: string, region: Region, open: number): { start: number; line: string; isNear: boolean } {
  const end = findContentEnd(text, region.start, open)
  const first = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start)
  const start = findContentStart(text, first, open)
  const lineFeeds = text.slice(end, open).split('\n').length - 1
  const isLine = (lineFeeds === 1 || lineFeeds === 2) && end - first <= LONGEST_HEADING
  return { start, line: isLine ? text.slice(start, end) : '', isNear: lineFeeds === 1 }
}

function toQuotation(text: string, start: number, heading: string, from: number, to: number, end: number): Quotation {
  const contentStart = findContentStart(text, Math.min(from, to), to)
  return { start, end, heading, contentStart, contentEnd: findContentEnd(text, contentStart, to) }
}

// `<b>Content from a.pdf (Page 3): </b>`
const CREDIT = /<b>(?:content|source|document|text|excerpt|passage|file|article)\b[^<\n]{0,300}[:：][ \t]*<\/b>/iy
const BREAKS = /(?:\s|<br ?\/?>)+$/i

/** Finds the list whose blocks begin with bold HTML text naming their source and are separated by HTML line breaks. */
export function findBoldLists({ text, tags }: Marks, region: Region): ContextList[] {
  const blocks: BlockSpan[] = []
  const credits = findOwn(tags, region).filter(
    ({ name, begins, start }) => name === 'b' && begins && matchAt(CREDIT, text, start),
  )
  for (const [i, { start }] of credits.entries()) {
    // the text is a single line, because the lines below it may belong to the prompt
    const lineEnd = findLineEnd(text, start)
    const next = credits[i + 1]?.start ?? region.end
    const limit = Math.min(lineEnd, next, region.end)
    const end = limit - (BREAKS.exec(text.slice(start, limit))?.[0].length ?? 0)
    if (next !== limit && text.slice(lineEnd + 1, lineEnd + 4).toLowerCase() !== '<br') return []
    blocks.push({ start, end, contentStart: start, contentEnd: end })
  }
  return blocks.length < 2 ? [] : [toList(text, blocks, 'credited', 'strong')]
}
