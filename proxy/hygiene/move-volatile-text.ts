import type { Span } from '../json/json-spans.ts'
import { readLines } from './read-lines.ts'

/**
 * Returns the text with the given whole lines (`VolatileText.line`) after all others, each group in its original order.
 * Every byte is kept: line ends stay in their places. For texts without context blocks: a line after the last block of
 * a list would be read as a part of it.
 */
export function moveVolatileText(text: string, lines: readonly Span[]): string {
  const starts = new Set(lines.map(({ start }) => start))
  const stable: string[] = []
  const moved: string[] = []
  const { lines: all } = readLines(text)
  for (const { start, contentEnd } of all) {
    const group = starts.has(start) ? moved : stable
    group.push(text.slice(start, contentEnd))
  }
  const contents = [...stable, ...moved]
  return all.map(({ contentEnd, end }, place) => contents[place]! + text.slice(contentEnd, end)).join('')
}
