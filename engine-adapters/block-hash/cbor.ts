/** Values that vLLM hashes into its block hashes. */
export type CborValue = number | string | Buffer | null | readonly CborValue[]

/** Encodes a value in canonical CBOR (RFC 8949 §4.2.1): integers up to 32 bits, byte strings, texts, arrays, null. */
export function encodeCbor(value: CborValue): Buffer {
  const pieces: Buffer[] = []
  write(value, pieces)
  return Buffer.concat(pieces)
}

const majors = { integer: 0, bytes: 2, text: 3, array: 4 } as const
const nothing = Buffer.from([0xf6])

function write(value: CborValue, pieces: Buffer[]): void {
  if (value === null) pieces.push(nothing)
  else if (typeof value === 'number') pieces.push(head(majors.integer, value))
  else if (typeof value === 'string') pieces.push(head(majors.text, Buffer.byteLength(value)), Buffer.from(value))
  else if (Buffer.isBuffer(value)) pieces.push(head(majors.bytes, value.length), value)
  else {
    const items = value as readonly CborValue[]
    pieces.push(head(majors.array, items.length))
    for (const item of items) write(item, pieces)
  }
}

/** Encodes kind and number in as few bytes as possible. */
function head(major: number, number: number): Buffer {
  const kind = major << 5
  if (number < 24) return Buffer.from([kind | number])
  if (number < 0x100) return Buffer.from([kind | 24, number])
  if (number < 0x10000) return Buffer.from([kind | 25, number >> 8, number & 0xff])
  const bytes = Buffer.alloc(5, kind | 26)
  bytes.writeUInt32BE(number, 1)
  return bytes
}
