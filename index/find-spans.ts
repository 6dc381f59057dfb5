/** A span ends after a character if the hash of the last 32 characters has these bits clear: one in 64. */
const anchorBits = 0xfc000000
const shortest = 32
const longest = 512

/**
 * Returns the ends of a text's spans, which depend only on its content: the end of a line or a sentence or, if there is
 * none for long, the place that a rolling hash chooses (content-defined chunking). Texts that contain the same stretch
 * have the same spans in it, except at its edges. The last end is the end of the text.
 */
export function findSpanEnds(text: string): number[] {
  const ends: number[] = []
  let [start, line, sentence] = [0, -1, -1]
  while (start < text.length) {
    const first = start + shortest - 1
    if (line < first) line = positionOf(text, '\n', first)
    if (sentence < first) sentence = positionOf(text, '. ', first)
    const end = Math.min(text.length, line + 1, sentence + 2)
    if (end - start > longest) findAnchors(text, start, end, ends)
    ends.push(end)
    start = end
  }
  return ends
}

function positionOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? text.length : at
}

function findAnchors(text: string, start: number, end: number, ends: number[]): void {
  let hash = 0
  let before = start
  for (let i = start; i < end - 1; i++) {
    hash = (hash << 1) + Math.imul(text.charCodeAt(i) + 1, 0x9e3779b1)
    const length = i + 1 - before
    if (((hash & anchorBits) !== 0 || length < shortest) && length < longest) continue
    ends.push(i + 1)
    before = i + 1
  }
}
