import { findSpanEnds } from '../gain/find-spans.ts'
import type { Span } from '../json/json-spans.ts'

const longest = 2_048

/**
 * Cuts a text into stretches of some hundred characters, at places that depend only on the content there. So texts that
 * begin alike begin with the same stretches, even if they differ later.
 */
export function cutStretches(text: string): Span[] {
  const stretches: Span[] = []
  let [start, span] = [0, 0]
  for (const end of findSpanEnds(text)) {
    // one span in four ends a stretch, chosen by its content and not by its place
    if ((end - span) % 4 === 0 || end - start >= longest || end === text.length) {
      stretches.push({ start, end })
      start = end
    }
    span = end
  }
  return stretches
}
