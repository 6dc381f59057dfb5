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
  const { length } = json
  if (length < shortJson) {
    const parts = takeApart(length, sorted).map((part) =>
      typeof part === 'string' ? part : json.slice(part.start, part.end),
    )
    return Buffer.from(parts.join(''))
  }
  const locate = byteOffsets(bytes, json, sorted)
  const parts = takeApart(length, sorted).map((part) =>
    typeof part === 'string' ? Buffer.from(part) : bytes.subarray(locate(part.start), locate(part.end)),
  )
  return Buffer.concat(parts)
}

/** Returns what a JSON of this length consists of with sorted splices applied. */
function takeApart(length: number, sorted: readonly BodySplice[]): (Span | string)[] {
  const parts: (Span | string)[] = []
  let at = 0
  for (const { start, end, pieces } of sorted) {
    parts.push({ start: at, end: start }, ...pieces)
    at = end
  }
  parts.push({ start: at, end: length })
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
