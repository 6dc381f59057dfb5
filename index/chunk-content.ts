/** A stretch of a block's content; `end` is exclusive. */
export interface Chunk {
  readonly start: number
  readonly end: number
  /** of its characters: equal stretches have equal hashes */
  readonly hash: number
}

/** Shorter stretches recur by chance, as closing brackets and blank lines do. */
const shortest = 64
const longest = 2_048
/** of FNV-1a, 32 bits */
const seed = 0x811c9dc5
const prime = 0x01000193

/**
 * Content-defined chunks (ContextPilot §6, partial overlaps): whole lines, cut behind lines that their own characters
 * choose, about one in four. Equal stretches of two blocks are therefore cut alike, wherever they begin. Linear time.
 */
export function chunkContent(content: string): Chunk[] {
  const chunks: Chunk[] = []
  let start = 0
  let hash = seed
  for (let at = 0; at < content.length; ) {
    const end = lineEnd(content, at)
    const line = hashOf(content, at, end)
    hash = Math.imul(hash ^ line, prime)
    const length = end - start
    // FNV's lowest bits are its weakest
    const isBorder = ((line >>> 13) & 3) === 0
    if ((length >= shortest && isBorder) || length >= longest || end === content.length) {
      chunks.push({ start, end, hash })
      start = end
      hash = seed
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

/** FNV-1a of all of a line: neighbouring rows of a table differ in a character or two, wherever they stand. */
function hashOf(content: string, start: number, end: number): number {
  let hash = seed
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ content.charCodeAt(at), prime)
  return hash
}
