/** A stretch of a block's content; `end` is exclusive. */
export interface Chunk {
  readonly start: number
  readonly end: number
}

/** Shorter stretches recur by chance, as closing brackets and blank lines do. */
const shortest = 64
const longest = 2_048

/**
 * Content-defined chunks (ContextPilot §6, partial overlaps): whole lines, cut behind lines that their own characters
 * choose, about one in four. Equal stretches of two blocks are therefore cut alike, wherever they begin. Linear time.
 */
export function chunkContent(content: string): Chunk[] {
  const chunks: Chunk[] = []
  let start = 0
  for (let at = 0; at < content.length; ) {
    const end = lineEnd(content, at)
    const length = end - start
    if ((length >= shortest && isBorder(content, at, end)) || length >= longest || end === content.length) {
      chunks.push({ start, end })
      start = end
    }
    at = end
  }
  return chunks
}

/** Behind the line break that ends the line which holds the character at `from`. */
export function lineEnd(content: string, from: number): number {
  const newline = content.indexOf('\n', from)
  return newline < 0 ? content.length : newline + 1
}

/** FNV-1a of the line: neighbouring rows of a table differ in a character or two, wherever they stand. */
function isBorder(content: string, start: number, end: number): boolean {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ content.charCodeAt(at), 0x01000193)
  return ((hash >>> 13) & 3) === 0
}
