import type { Span } from '../json/json-spans.ts'
import { readLines } from './read-lines.ts'

/**
 * The text with the given whole lines (`VolatileText.line`) behind all others, each group in the order it had. Every
 * byte is kept: line ends stay in their places. For texts that hold no context blocks: a line behind the last block
 * of a list would be read as a part of it.
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
