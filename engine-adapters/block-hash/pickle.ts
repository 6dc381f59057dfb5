import type { CborValue } from './cbor.ts'

type PickleValue = CborValue

const codes = {
  protocol: 0x80,
  frame: 0x95,
  stop: 0x2e,
  none: 0x4e,
  memoize: 0x94,
  byte: 0x4b,
  twoBytes: 0x4d,
  fourBytes: 0x4a,
  shortBytes: 0x43,
  shortText: 0x8c,
  text: 0x58,
  emptyTuple: 0x29,
  mark: 0x28,
  tuple: 0x74,
} as const
/** Tuples of up to three items have special codes. */
const smallTuples = [codes.emptyTuple, 0x85, 0x86, 0x87]

/**
 * Encodes a value as Python's `pickle` does with protocol 5, the highest since 3.8, in one frame: integers up to 31
 * bits, bytes up to 255, texts, tuples, None. No object may occur twice.
 */
export function encodePickle(value: PickleValue): Buffer {
  const body: number[] = []
  write(value, body)
  body.push(codes.stop)
  const head = Buffer.alloc(11)
  head.set([codes.protocol, 5, codes.frame])
  head.writeBigUInt64LE(BigInt(body.length), 3)
  return Buffer.concat([head, Buffer.from(body)])
}

function write(value: PickleValue, body: number[]): void {
  if (value === null) body.push(codes.none)
  else if (typeof value === 'number') writeInteger(value, body)
  else if (typeof value === 'string') writeText(Buffer.from(value), body)
  else if (Buffer.isBuffer(value)) body.push(codes.shortBytes, value.length, ...value, codes.memoize)
  else writeTuple(value as readonly PickleValue[], body)
}

function writeInteger(value: number, body: number[]): void {
  if (value < 0x100) body.push(codes.byte, value)
  else if (value < 0x10000) body.push(codes.twoBytes, value & 0xff, value >> 8)
  else body.push(codes.fourBytes, value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >> 24)
}

function writeText(text: Buffer, body: number[]): void {
  const { length } = text
  if (length < 0x100) body.push(codes.shortText, length)
  else body.push(codes.text, length & 0xff, (length >> 8) & 0xff, (length >> 16) & 0xff, length >> 24)
  for (const byte of text) body.push(byte)
  body.push(codes.memoize)
}

function writeTuple(items: readonly PickleValue[], body: number[]): void {
  const code = smallTuples[items.length]
  if (code === undefined) body.push(codes.mark)
  for (const item of items) write(item, body)
  body.push(code ?? codes.tuple)
  if (items.length > 0) body.push(codes.memoize)
}
