/** What may be true of a chunk: a bit for each. */
export const chunkFlags = {
  /** it is certainly a chunk, and not a question or a message that was embedded */
  sure: 1,
  /** others were learned at the same time: the order is certain only within one batch */
  orderUnsure: 2,
  /** the first and the last of its batch */
  first: 4,
  last: 8,
  /** an export had it twice */
  repeated: 16,
  /** it was seen with different questions among different neighbours, so it is a document of its own */
  apart: 32,
} as const

/** How a chunk became known. */
export interface ChunkFacts {
  /** bits of `chunkFlags` */
  readonly flags: number
  /** who put the chunks in order; 0: nobody */
  readonly source: number
  /** its place in that order */
  readonly order: number
  /** place of the export's first chunk in that order; undefined: it came in no export */
  readonly exportOrder?: number
  /** white space at its ends, as it was given */
  readonly lead: string
  readonly tail: string
  /** two words of a hash of the caller's id for it; 0, 0: none */
  readonly id: readonly [number, number]
}

/** All that is kept of a chunk: none of its text. */
export interface ChunkRecord extends ChunkFacts {
  /** in folded characters */
  readonly length: number
  /** hash of the whole chunk */
  readonly hash: number
  /** four words of its SHA-256 */
  readonly digest: Int32Array
  /** hash of the characters it is looked up by, and their place in it */
  readonly anchor: number
  readonly anchorPlace: number
  /** where it was seen last: a hash of the question and one of its neighbours, 16 bits each; 0: nowhere */
  readonly sighting: number
}
