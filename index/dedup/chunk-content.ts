/** A stretch of a block's content; `end` is exclusive. */
export interface Chunk {
  readonly start: number
  readonly end: number
  /** equal stretches have equal hashes, and others hardly ever */
  readonly hash: number
}

/** Shorter stretches recur by chance, as closing brackets and blank lines do. */
const shortest = 64
const longest = 2_048
/** of FNV-1a, 32 bits */
const seed = 0x811c9dc5
const prime = 0x01000193
/** how many characters at the beginning of a line are read, and about how many of the rest */
const samples = 16

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

/**
 * FNV-1a of a line's length, its first characters, where the rows of a table differ, and some spread over the rest:
 * reading takes the time here. Lines that are equal have equal hashes; who finds equal hashes has to compare.
 */
function hashOf(content: string, start: number, end: number): number {
  let hash = Math.imul(seed ^ (end - start), prime)
  const spread = Math.min(end, start + samples)
  for (let at = start; at < spread; at++) hash = Math.imul(hash ^ content.charCodeAt(at), prime)
  const step = Math.max(1, Math.floor((end - spread) / samples))
  for (let at = spread; at < end; at += step) hash = Math.imul(hash ^ content.charCodeAt(at), prime)
  return hash
}
