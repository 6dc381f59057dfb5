import { findSpanEnds } from '../gain/find-spans.ts'
import type { Span } from '../json/json-spans.ts'

const longest = 2_048

/**
 * Cuts a text into stretches of some hundred characters, where its own content says. So texts that begin alike begin
 * with the same stretches, though only their ends tell them apart.
 */
export function cutStretches(text: string): Span[] {
  const stretches: Span[] = []
  let [start, span] = [0, 0]
  for (const end of findSpanEnds(text)) {
    // one span in four ends a stretch: its length is of its content, not of its place
    if ((end - span) % 4 === 0 || end - start >= longest || end === text.length) {
      stretches.push({ start, end })
      start = end
    }
    span = end
  }
  return stretches
}
