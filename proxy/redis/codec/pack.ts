import { Packr } from 'msgpackr'

// without references, which could make a short text a large value
const packr = new Packr({ useRecords: false, structuredClone: false })

/** Whether a value that was unpacked is a whole number from 0 to `most`: large ones are unpacked as `bigint`. */
export function isWhole(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
}

/** Whether this is a list of signed 32-bit numbers. */
export function areWords(values: unknown): values is number[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'number' && value === (value | 0))
}

/** Encodes a list of values as msgpack. */
export function pack(values: readonly unknown[]): Buffer {
  return packr.pack(values)
}

/** Decodes a list of so many values; undefined if the bytes hold anything else. */
export function unpack(bytes: Buffer, count: number): readonly unknown[] | undefined {
  try {
    const values: unknown = packr.unpack(bytes)
    return Array.isArray(values) && values.length === count ? values : undefined
  } catch {
    return undefined
  }
}
