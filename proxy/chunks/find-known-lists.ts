import { tryJson } from '#engine-adapters/json-object.ts'
import type { ChunkHandle } from '../prompt/certain-list.ts'
import { type BlockSpan, type ContextList, mostBlocks } from '../prompt/context-list.ts'
import { tellsOrder } from '../prompt/order/tells-order.ts'
import { areMostlyInOrder, mayGoOn, wereApart } from './one-text.ts'
import type { ChunkTable } from './table/chunk-table.ts'
import { type FoldedText, longestText } from './table/folded-text.ts'

/** Why adjacent known chunks are left alone. */
export type ChunkRefusal = 'one_text' | 'overlapping' | 'mixed_separators' | 'in_data' | 'too_many'

interface KnownList extends ContextList {
  /** the chunks of those blocks that consist of one chunk */
  readonly chunks: readonly ChunkHandle[]
}

/** The known chunks and lists in a text. */
export interface KnownLists {
  readonly lists: readonly KnownList[]
  /** chunks that were found */
  readonly matched: number
  /** one reason for each time that adjacent chunks were left alone */
  readonly refused: readonly ChunkRefusal[]
}

/** The chunks at one place in a text: the same text may be known in several scopes. */
interface PlacedChunk {
  readonly start: number
  readonly end: number
  readonly chunks: number[]
}

const none: KnownLists = { lists: [], matched: 0, refused: [] }

/** What may separate two documents: white space, possibly with a line of symbols or a bullet in it. */
const SEPARATOR = /^\s+$|^\s*\n[ \t]*(?:[^\p{L}\p{N}\s"'`{}[\]()<>\\]{1,40}[ \t]*\n\s*|[-*•–—+·][ \t]+)$/u
const SIGN = /\S/
const longestSeparator = 100
const WORD = /[\p{L}\p{N}]/u

/**
 * Finds the lists of known chunks in a text, to the byte: two or more adjacent chunks, with the same separator between
 * each two. Separators and the rest of the text stay where they are. Overlapping chunks are left alone: they are
 * stretches of one text. So are chunks in the order they were given in: they count as one text until they were seen in
 * another order.
 */
export function findKnownLists(
  text: string,
  table: ChunkTable,
  scopes: readonly string[],
  folded: FoldedText,
): KnownLists {
  if (table.size === 0 || text.length > longestText) return none
  folded.read(text)
  const found = toPlaces(text, folded, table.match(folded, scopes))
  if (found.length < 2) return { ...none, matched: found.length }
  const refused: ChunkRefusal[] = []
  const lists: KnownList[] = []
  for (const run of toRuns(text, table, found, refused)) {
    const list = toList(text, table, run)
    if (typeof list === 'string') refused.push(list)
    else lists.push(list)
  }
  return { lists, matched: found.length, refused }
}

/**
 * Returns where chunks are in the text, in order, the longer of two that begin together first. Omits those that begin
 * or end inside a word.
 */
function toPlaces(text: string, folded: FoldedText, matches: ReturnType<ChunkTable['match']>): PlacedChunk[] {
  const bySpan = new Map<string, PlacedChunk>()
  for (const { chunk, start, end } of matches) {
    const from = folded.placeOf(start)
    const to = folded.placeOf(end - 1) + 1
    if (splitsWord(text, from) || splitsWord(text, to)) continue
    const known = bySpan.get(`${from} ${to}`)
    if (known) known.chunks.push(chunk)
    else bySpan.set(`${from} ${to}`, { start: from, end: to, chunks: [chunk] })
  }
  return [...bySpan.values()].sort((a, b) => a.start - b.start || b.end - a.end)
}

function splitsWord(text: string, at: number): boolean {
  return at > 0 && at < text.length && WORD.test(text[at - 1]!) && WORD.test(text[at]!)
}

/** Groups adjacent chunks into runs. Omits those inside another chunk, and those that overlap. */
function toRuns(
  text: string,
  table: ChunkTable,
  found: readonly PlacedChunk[],
  refused: ChunkRefusal[],
): PlacedChunk[][] {
  const runs: PlacedChunk[][] = []
  let run: PlacedChunk[] = []
  const isSure = ({ chunks }: PlacedChunk): boolean => chunks.some((chunk) => table.columns.isSure(chunk))
  const endRun = (): void => {
    // where a candidate begins or ends is certain only next to a chunk
    run = run.slice(0, run.findLastIndex(isSure) + 1)
    if (run.length > 1) runs.push(run)
    run = []
  }
  for (const place of withoutOverlaps(found, refused)) {
    const isChunk = isSure(place)
    const mayBe = isChunk || (run.length > 0 && place.chunks.some((chunk) => table.isCandidate(chunk)))
    const before = run.at(-1)
    if (before && (!mayBe || !mayPart(text, before.end, place.start))) endRun()
    if (isChunk || run.length > 0) run.push(place)
  }
  endRun()
  return runs
}

function withoutOverlaps(found: readonly PlacedChunk[], refused: ChunkRefusal[]): PlacedChunk[] {
  const kept: PlacedChunk[] = []
  const torn = new Set<PlacedChunk>()
  for (const place of found) {
    const before = kept.at(-1)
    if (before && place.end <= before.end) continue
    if (before && place.start < before.end) torn.add(before).add(place)
    kept.push(place)
  }
  if (torn.size > 0) refused.push('overlapping')
  // a torn chunk still separates its neighbours
  return kept.filter((place) => !torn.has(place))
}

function mayPart(text: string, from: number, to: number): boolean {
  return to > from && to - from <= longestSeparator && SEPARATOR.test(text.slice(from, to))
}

function toList(text: string, table: ChunkTable, run: readonly PlacedChunk[]): KnownList | ChunkRefusal {
  const spans = spansOf(text, table, run)
  if (spans === undefined) return 'mixed_separators'
  if (isInData(text, spans[0]!.start, spans.at(-1)!.end)) return 'in_data'
  const groups = groupsOf(table, run, SIGN.test(text.slice(spans[0]!.end, spans[1]!.start)))
  if (groups.length < 2 || areMostlyInOrder(table, run, groups)) return 'one_text'
  if (groups.length > mostBlocks) return 'too_many'
  const blocks = groups.map(({ from, to }): BlockSpan => {
    const [first, last] = [spans[from]!, spans[to]!]
    return { start: first.start, end: last.end, contentStart: first.contentStart, contentEnd: last.contentEnd }
  })
  if (tellsOrder(text, blocks)) return 'one_text'
  const alone = groups.filter(({ from, to }) => from === to)
  const chunks = alone.flatMap(({ from }) => run[from]!.chunks.map((chunk) => table.columns.handleOf(chunk)))
  return { blocks, positional: false, labelPrefix: '', end: blocks.at(-1)!.end, chunks }
}

/** Groups chunks that form one block together, by their places in the run. */
function groupsOf(table: ChunkTable, run: readonly PlacedChunk[], isRuled: boolean): { from: number; to: number }[] {
  const groups: { from: number; to: number }[] = []
  for (let from = 0; from < run.length; ) {
    let to = from
    while (to + 1 < run.length && mayGoOn(table, run[to]!, run[to + 1]!, isRuled)) to++
    if (to > from && wereApart(table, run.slice(from, to + 1), run.length)) {
      for (let place = from; place <= to; place++) groups.push({ from: place, to: place })
    } else groups.push({ from, to })
    from = to + 1
  }
  return groups
}

/**
 * Returns the blocks for which all separators are the same: trimmed, or with the white space they were given with.
 * Returns undefined if neither works.
 */
function spansOf(text: string, table: ChunkTable, run: readonly PlacedChunk[]): BlockSpan[] | undefined {
  const trimmed = run.map(({ start, end }) => ({ start, end, contentStart: start, contentEnd: end }))
  if (areAlike(text, trimmed)) return trimmed
  const whole = run.map(({ start, end, chunks }) => {
    const { lead, tail } = table.columns.endsOf(chunks[0]!)
    return { start: start - lead.length, end: end + tail.length, lead, tail, contentStart: start, contentEnd: end }
  })
  const areThere = whole.every(({ lead, tail, start, end, contentStart, contentEnd }, i) => {
    if (start < (whole[i - 1]?.end ?? 0)) return false
    return text.slice(start, contentStart) === lead && text.slice(contentEnd, end) === tail
  })
  if (!areThere || !areAlike(text, whole)) return undefined
  return whole.map(({ start, end, contentStart, contentEnd }) => ({ start, end, contentStart, contentEnd }))
}

function areAlike(text: string, spans: readonly { readonly start: number; readonly end: number }[]): boolean {
  const separator = text.slice(spans[0]!.end, spans[1]!.start)
  // no gap once their own white space is included: this is the text they were cut from
  if (separator === '') return false
  return spans.slice(1).every(({ start }, i) => text.slice(spans[i]!.end, start) === separator)
}

/** Whether our words after the list would be inside a JSON value. */
function isInData(text: string, start: number, end: number): boolean {
  if (text[start - 1] === '"' && text[end] === '"') return true
  const whole = text.trim()
  return /^[{[]/.test(whole) && /[}\]]$/.test(whole) && tryJson(whole) !== undefined
}
