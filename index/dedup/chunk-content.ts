/** A stretch of a block's content; `end` is exclusive. */
export interface Chunk {
  readonly start: number
  readonly end: number
  /** equal for equal stretches, and almost never for others */
  readonly hash: number
}

/** Shorter stretches, such as closing brackets and blank lines, recur by chance. */
const shortest = 64
const longest = 2_048
/** parameters of 32-bit FNV-1a */
const seed = 0x811c9dc5
const prime = 0x01000193
/** number of characters hashed at the start of a line, and approximate number sampled from the rest */
const samples = 16

/**
 * Cuts a content into content-defined chunks of whole lines (ContextPilot §6, partial overlaps). A hash of each line
 * decides whether a chunk may end after it, which is true for about one line in four. Equal stretches of two blocks are
 * therefore cut alike, wherever they begin. Linear time.
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

/** Returns the end of the line that contains position `from`, including its line break. */
export function lineEnd(content: string, from: number): number {
  const newline = content.indexOf('\n', from)
  return newline < 0 ? content.length : newline + 1
}

/**
 * FNV-1a of a line's length, its first characters, where the rows of a table differ, and a sample of the rest. Sampling
 * saves time, because reading dominates it. Equal lines have equal hashes, but equal hashes need a comparison.
 */
function hashOf(content: string, start: number, end: number): number {
  let hash = Math.imul(seed ^ (end - start), prime)
  const spread = Math.min(end, start + samples)
  for (let at = start; at < spread; at++) hash = Math.imul(hash ^ content.charCodeAt(at), prime)
  const step = Math.max(1, Math.floor((end - spread) / samples))
  for (let at = spread; at < end; at += step) hash = Math.imul(hash ^ content.charCodeAt(at), prime)
  return hash
}
