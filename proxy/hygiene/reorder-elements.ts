import type { Span, Splice } from '../json/json-spans.ts'

/**
 * Returns a splice that puts the elements of an array (from `elementSpans`) into another order: byte for byte,
 * with the separators left in their places. Returns undefined if they are in that order already.
 */
export function reorderElements(json: string, elements: readonly Span[], order: readonly number[]): Splice | undefined {
  if (order.every((from, place) => from === place)) return undefined
  const pieces: string[] = []
  for (const [place, from] of order.entries()) {
    const { start, end } = elements[from]!
    pieces.push(json.slice(start, end))
    const next = elements[place + 1]
    if (next) pieces.push(json.slice(elements[place]!.end, next.start))
  }
  return { start: elements[0]!.start, end: elements.at(-1)!.end, text: pieces.join('') }
}
