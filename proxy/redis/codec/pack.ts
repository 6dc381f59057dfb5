import { Packr } from 'msgpackr'

const packr = new Packr({ useRecords: false })

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
