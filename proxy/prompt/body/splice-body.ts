import type { Span } from '../../common/json/json-spans.ts'

/** A stretch of a body's JSON and its replacement: stretches cut out of the body, and our own JSON. */
export interface BodySplice extends Span {
  readonly pieces: readonly (Span | string)[]
}

/**
 * Returns the bytes of a body with non-overlapping splices applied. If two begin at the same offset, the insertion
 * comes before the replacement. `bytes` are the UTF-8 of `json`, to which the offsets of splices and cuts refer. Copies
 * bytes and builds no large strings: these would cost more than all else here, because their memory is new to the
 * process each time.
 */
export function spliceBody(bytes: Buffer, json: string, splices: readonly BodySplice[]): Buffer {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const offsets = toByteOffsets(bytes, json, edgesOf(sorted))
  const parts: Uint8Array[] = []
  const cut = ({ start, end }: Span): Buffer => bytes.subarray(offsets.get(start), offsets.get(end))
  let at = 0
  for (const { start, end, pieces } of sorted) {
    parts.push(cut({ start: at, end: start }))
    for (const piece of pieces) parts.push(typeof piece === 'string' ? Buffer.from(piece) : cut(piece))
    at = end
  }
  parts.push(cut({ start: at, end: json.length }))
  return Buffer.concat(parts)
}

/** Returns all offsets at which bytes are cut, ascending. */
function edgesOf(splices: readonly BodySplice[]): number[] {
  const edges = new Set([0])
  for (const { start, end, pieces } of splices) {
    edges.add(start).add(end)
    for (const piece of pieces) if (typeof piece !== 'string') edges.add(piece.start).add(piece.end)
  }
  return [...edges].sort((a, b) => a - b)
}

function toByteOffsets(bytes: Buffer, json: string, offsets: readonly number[]): Map<number, number> {
  const isAscii = bytes.length === json.length
  const found = new Map<number, number>([[json.length, bytes.length]])
  let at = 0
  let previous = 0
  for (const offset of offsets) {
    at += isAscii ? offset - previous : Buffer.byteLength(json.slice(previous, offset))
    previous = offset
    found.set(offset, at)
  }
  return found
}
