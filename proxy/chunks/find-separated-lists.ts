import { type BlockSpan, mostBlocks } from '../prompt/context-list.ts'
import { readCue } from '../prompt/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../prompt/find-edges.ts'
import { type CertainList, toSpans } from './certain-list.ts'

interface Bounds {
  readonly start: number
  readonly end: number
  /** it is nothing but material, as a tool's result is */
  readonly isWhole: boolean
}

/** What announces documents, or opens what holds them: `Context:`, `<context>`, `"""`, a rule. */
const OPENING = /[:：】]\s*$|^\s*<[\w -]+>\s*$|^\s*(?:"""|'''|```\w*|-{3,}|={3,})\s*$/
const CLOSING = /^\s*<\/[\w -]+>|^\s*(?:"""|'''|```|-{3,}|={3,})\s*$/

/**
 * The lists that separators part. What stands between two of them is a document. The first and the last one have a
 * separator on one side only, unless the template puts one there as well: they count where a single line shows where
 * they begin and end, and stay where they are otherwise.
 */
export function findSeparatedLists(text: string, places: readonly number[], bounds: Bounds): CertainList[] {
  const lists: CertainList[] = []
  let blocks: BlockSpan[] = []
  const endList = (): void => {
    const list = blocks
    blocks = []
    if (list.length < 2 || list.length > mostBlocks) return
    const certain = { by: 'separator' as const, chunks: [], spans: toSpans(list) }
    lists.push({ blocks: list, positional: false, labelPrefix: '', end: list.at(-1)!.end, certain })
  }
  const push = (start: number, end: number): void => {
    const from = findContentStart(text, start, end)
    const to = findContentEnd(text, from, end)
    if (to > from) blocks.push({ start: from, end: to, contentStart: from, contentEnd: to })
  }
  const edges = [bounds.start, ...places.filter((at) => at >= bounds.start && at <= bounds.end), bounds.end]
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i]!, edges[i + 1]!]
    const isFirst = i === 0
    const isLast = i + 2 === edges.length
    // a question between two lists
    if (!isFirst && !isLast && !holdsQuestion(text, start, end)) {
      push(start, end)
      continue
    }
    const last = isFirst ? undefined : lastEnd(text, start, end, bounds.isWhole)
    if (last !== undefined) push(start, last)
    endList()
    const first = isLast ? undefined : firstStart(text, start, end, bounds.isWhole)
    if (first !== undefined) push(first, end)
  }
  endList()
  return lists
}

function holdsQuestion(text: string, start: number, end: number): boolean {
  return linesOf(text, start, end).some((line, i) => i > 0 && readCue(text, line)?.question)
}

/** Where the first document begins; undefined: somewhere behind the instructions. */
function firstStart(text: string, start: number, end: number, isWhole: boolean): number | undefined {
  if (isWhole) return start
  const opening = linesOf(text, start, end).filter((line) => {
    return OPENING.test(text.slice(line, Math.min(findLineEnd(text, line), end)))
  })
  if (opening.length !== 1) return undefined
  return Math.min(findLineEnd(text, opening[0]!), end)
}

/** Where the last document ends; undefined: somewhere in front of what follows. */
function lastEnd(text: string, start: number, end: number, isWhole: boolean): number | undefined {
  if (isWhole) return end
  const closing = linesOf(text, start, end).filter((line, i) => {
    return i > 0 && (CLOSING.test(text.slice(line, Math.min(findLineEnd(text, line), end))) || readCue(text, line))
  })
  const [first, ...others] = closing
  if (first === undefined) return undefined
  // what follows the question may be told in several such lines, and a document may hold the first of them
  return others.length === 0 || isCloseBehind(text, first, others[0]!) ? first : undefined
}

function isCloseBehind(text: string, from: number, to: number): boolean {
  return findContentStart(text, findLineEnd(text, from), to) === to || readCue(text, from)?.question === true
}

function linesOf(text: string, start: number, end: number): number[] {
  const lines: number[] = []
  for (let line = start; line < end; line = findLineEnd(text, line) + 1) lines.push(line)
  return lines
}
