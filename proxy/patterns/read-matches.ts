import type { BlockSpan, ContextList } from '../prompt/context-list.ts'
import { findContentEnd, findContentStart } from '../prompt/scan/find-edges.ts'
import { isRunning } from '../prompt/scan/labels/label.ts'

/**
 * What a worker found with one pattern in one text: five numbers per match, its end, then start and end of block and
 * label.
 */
export type MatchSpans = readonly number[]

/**
 * Returns the lists that the matches of several patterns form in a text; if lists overlap, the first pattern's counts.
 */
export function readMatches(text: string, matches: readonly MatchSpans[]): ContextList[] {
  const lists: ContextList[] = []
  for (const spans of matches) {
    const list = toList(text, spans)
    if (list !== undefined && !lists.some((other) => overlap(list, other))) lists.push(list)
  }
  return lists.sort((left, right) => startOf(left) - startOf(right))
}

function startOf({ blocks }: ContextList): number {
  return blocks[0]!.start
}

function overlap(left: ContextList, right: ContextList): boolean {
  return startOf(left) < right.end && startOf(right) < left.end
}

function toList(text: string, spans: MatchSpans): ContextList | undefined {
  const blocks: BlockSpan[] = []
  let end = 0
  for (let i = 0; i + 4 < spans.length; i += 5) {
    const block = toBlock(text, spans.slice(i, i + 5) as [number, number, number, number, number])
    // groups in look-around may reach into the next match
    if (block.start < end) return undefined
    blocks.push(block)
    end = Math.max(spans[i]!, block.end)
  }
  if (blocks.length < 2) return undefined
  const positional = isRunning(blocks.map(({ label }) => label && text.slice(label.start, label.end)))
  return { blocks, positional, labelPrefix: '', end }
}

function toBlock(
  text: string,
  [, from, to, labelStart, labelEnd]: [number, number, number, number, number],
): BlockSpan {
  const hasLabel = labelEnd > labelStart
  // a label outside its block would stay behind when the block moves
  const start = hasLabel ? Math.min(from, labelStart) : from
  const end = hasLabel ? Math.max(to, labelEnd) : to
  const contentStart = findContentStart(text, from, to)
  const span = { start, end, contentStart, contentEnd: findContentEnd(text, contentStart, to) }
  return hasLabel ? { label: { start: labelStart, end: labelEnd }, ...span } : span
}
