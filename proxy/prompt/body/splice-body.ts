import type { Span } from '../../common/json/json-spans.ts'
import { mapOffsets } from './offset-map.ts'

/** Encoding fewer UTF-16 units again takes less time than finding where each piece is in the bytes. */
const shortJson = 8_192

/** A stretch of a body's JSON and its replacement: stretches cut out of the body, and our own JSON. */
export interface BodySplice extends Span {
  readonly pieces: readonly (Span | string)[]
}

/**
 * Returns the bytes of a body with non-overlapping splices applied. If two begin at the same offset, the insertion
 * comes before the replacement. `bytes` are the UTF-8 of `json`, to which the offsets of splices and cuts refer. Of a
 * long body it copies bytes and builds no large strings: these would cost more than all else here, because their memory
 * is new to the process each time.
 */
export function spliceBody(bytes: Buffer, json: string, splices: readonly BodySplice[]): Buffer {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end)
  if (json.length < shortJson) {
    const cut = (start: number, end: number): string => json.slice(start, end)
    return Buffer.from(partsOf(sorted, json.length, cut, (text) => text).join(''))
  }
  const locate = byteOffsets(bytes, json, sorted)
  const cut = (start: number, end: number): Buffer => bytes.subarray(locate(start), locate(end))
  return Buffer.concat(partsOf(sorted, json.length, cut, (text) => Buffer.from(text)))
}

/** Returns what a body of `length` characters consists of once it is spliced: what is cut out of it, and our own JSON. */
function partsOf<Part>(
  sorted: readonly BodySplice[],
  length: number,
  cut: (start: number, end: number) => Part,
  write: (text: string) => Part,
): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const { start, end, pieces } of sorted) {
    parts.push(cut(at, start))
    for (const piece of pieces) parts.push(typeof piece === 'string' ? write(piece) : cut(piece.start, piece.end))
    at = end
  }
  parts.push(cut(at, length))
  return parts
}

/** Returns where the offsets of splices are in the bytes. */
function byteOffsets(bytes: Buffer, json: string, splices: readonly BodySplice[]): (offset: number) => number {
  // it is ASCII
  if (bytes.length === json.length) return (offset) => offset
  const offsets = [0, json.length]
  for (const { start, end, pieces } of splices) {
    offsets.push(start, end)
    for (const piece of pieces) if (typeof piece !== 'string') offsets.push(piece.start, piece.end)
  }
  return mapOffsets(offsets, 0, (from, to) => Buffer.byteLength(json.slice(from, to)))
}
