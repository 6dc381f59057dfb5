import { type CertainList, toSpans } from '../prompt/certain-list.ts'
import { type BlockSpan, type ContextList, mostBlocks, startOf } from '../prompt/context-list.ts'
import { readCue } from '../prompt/scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../prompt/scan/find-edges.ts'

interface Bounds {
  readonly start: number
  readonly end: number
  /** it contains nothing but documents, like a tool's result */
  readonly isWhole: boolean
}

/** A line that opens a container of documents, and one that closes it. */
const OPENING = /^[ \t]*<([a-z][\w:-]*)(?:[ \t][^<>\n]*)?>[ \t\r]*$/gim
const CLOSING = /^[ \t]*<\/([a-z][\w:-]*)>/gim

/**
 * Finds the lists that separators divide. The text between two separators is a document. The first and the last
 * document have a separator on one side only, unless the template puts one on the other side as well. In a tool's
 * result, and in a tag that contains all separators, they reach to its ends. Elsewhere nothing shows where they begin
 * and end, so they stay where they are.
 */
export function findSeparatedLists(text: string, places: readonly number[], bounds: Bounds): CertainList[] {
  if (places.length === 0) return []
  const lists: CertainList[] = []
  let blocks: BlockSpan[] = []
  const endList = (): void => {
    const list = blocks
    blocks = []
    if (list.length < 2 || list.length > mostBlocks) return
    const found = { blocks: list, positional: false, labelPrefix: '', end: list.at(-1)!.end }
    lists.push({ ...found, certain: { by: 'separator', chunks: [], spans: toSpans(found), labels: [] } })
  }
  const push = (start: number, end: number): void => {
    const from = findContentStart(text, start, end)
    const to = findContentEnd(text, from, end)
    if (to > from) blocks.push({ start: from, end: to, contentStart: from, contentEnd: to })
  }
  const holder = bounds.isWhole ? bounds : findHolder(text, places, bounds)
  const edges = [bounds.start, ...places.filter((at) => at >= bounds.start && at <= bounds.end), bounds.end]
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i]!, edges[i + 1]!]
    const isFirst = i === 0
    const isLast = i + 2 === edges.length
    // a question between separators divides two lists
    if (!isFirst && !isLast && !holdsQuestion(text, start, end)) {
      push(start, end)
      continue
    }
    if (!isFirst && isLast) push(start, holder.end ?? start)
    endList()
    if (isFirst && !isLast) push(holder.start ?? end, end)
  }
  endList()
  return lists
}

/**
 * Leaves out the separators inside marked documents, where they are text: a document must not be able to cut itself or
 * others in pieces. A marked list that lies within one separated document is text of that document itself, and where it
 * ends is a guess.
 */
export function outsideMarked(places: readonly number[], marked: readonly ContextList[]): number[] {
  const lists = marked.filter(({ blocks }) => blocks.length > 1)
  const isInside = (place: number, { blocks }: ContextList): boolean =>
    blocks.some(({ start, end }) => start < place && place < end)
  const outside = places.filter((place) => !lists.some((list) => isInside(place, list)))
  const documents = lists.filter((list) => {
    const isBehind = outside.some((place) => place <= startOf(list))
    return !isBehind || outside.some((place) => place > startOf(list) && place < list.end)
  })
  return places.filter((place) => !documents.some((list) => isInside(place, list)))
}

function holdsQuestion(text: string, start: number, end: number): boolean {
  return linesOf(text, start, end).some((line, i) => i > 0 && readCue(text, line)?.question)
}

/**
 * Finds where the content of the tag that contains all separators begins and ends, if there is exactly one such tag.
 */
function findHolder(text: string, places: readonly number[], { start, end }: Bounds): { start?: number; end?: number } {
  const front = text.slice(start, places[0])
  const behind = text.slice(places.at(-1), end)
  const closing = [...behind.matchAll(CLOSING)]
  const opening = [...front.matchAll(OPENING)].filter(([, name]) => closing.some(([, other]) => other === name))
  const [open, ...others] = opening
  const closes = closing.filter(([, name]) => name === open?.[1])
  if (open === undefined || others.length > 0 || closes.length !== 1) return {}
  return { start: start + open.index + open[0].length, end: places.at(-1)! + closes[0]!.index }
}

function linesOf(text: string, start: number, end: number): number[] {
  const lines: number[] = []
  for (let line = start; line < end; line = findLineEnd(text, line) + 1) lines.push(line)
  return lines
}
