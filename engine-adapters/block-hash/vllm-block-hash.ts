import { hash } from 'node:crypto'

/** Values that vLLM hashes into its block hashes. */
type HashedValue = number | string | Buffer | null | readonly HashedValue[]

/** What vLLM, since 0.29, hashes before the first block if PYTHONHASHSEED is not set. */
export const vllmDefaultSeed = 'vllm-none-hash'

/** What distinguishes a prompt's blocks besides their tokens. */
export interface VllmHashOptions {
  /** PYTHONHASHSEED of the engine, or its default */
  readonly seed: string
  /** part of the first block only */
  readonly salt?: string | undefined
  /** whether the salt is hashed with a tag that names it: 0.32 adds the tag, 0.28 did not */
  readonly isSaltTagged?: boolean
  /** `encodePickle` for `--prefix-caching-hash-algo sha256`, vLLM's default; if missing, CBOR for `sha256_cbor` */
  readonly encode?: (value: HashedValue) => Buffer
}

/** The hashes of a prompt's full blocks for `--prefix-caching-hash-algo sha256` or `sha256_cbor`, 32 bytes each. */
export function vllmBlockHashes(tokens: ArrayLike<number>, blockSize: number, options: VllmHashOptions): Buffer[] {
  const { seed, salt, isSaltTagged = true, encode = encodeCbor } = options
  const saltKey: HashedValue = isSaltTagged ? ['cache_salt', salt ?? ''] : (salt ?? '')
  const digest = (value: HashedValue): Buffer => hash('sha256', encode(value), 'buffer')
  let before = digest(seed)
  return Array.from({ length: Math.floor(tokens.length / blockSize) }, (_, place) => {
    const block = Array.from({ length: blockSize }, (_, i) => tokens[place * blockSize + i]!)
    const extra = place === 0 && salt !== undefined && salt !== '' ? [saltKey] : null
    before = digest([before, block, extra])
    return before
  })
}

/** The number under which vLLM publishes a hash, unless configured to publish all of it: its last 64 bits. */
export function vllmEventHash(blockHash: Buffer): bigint {
  return blockHash.readBigUInt64BE(blockHash.length - 8)
}

/** Encodes a value in canonical CBOR (RFC 8949 §4.2.1): integers up to 32 bits, byte strings, texts, arrays, null. */
export function encodeCbor(value: HashedValue): Buffer {
  const pieces: Buffer[] = []
  writeCbor(value, pieces)
  return Buffer.concat(pieces)
}

const cborNull = Buffer.from([0xf6])

function writeCbor(value: HashedValue, pieces: Buffer[]): void {
  if (value === null) pieces.push(cborNull)
  else if (typeof value === 'number') pieces.push(cborHead(0, value))
  else if (typeof value === 'string') pieces.push(cborHead(3, Buffer.byteLength(value)), Buffer.from(value))
  else if (Buffer.isBuffer(value)) pieces.push(cborHead(2, value.length), value)
  else {
    const items = value as readonly HashedValue[]
    pieces.push(cborHead(4, items.length))
    for (const item of items) writeCbor(item, pieces)
  }
}

/** Encodes kind and number in as few bytes as possible. */
function cborHead(major: number, number: number): Buffer {
  const kind = major << 5
  if (number < 24) return Buffer.from([kind | number])
  if (number < 0x100) return Buffer.from([kind | 24, number])
  if (number < 0x10000) return Buffer.from([kind | 25, number >> 8, number & 0xff])
  const bytes = Buffer.alloc(5, kind | 26)
  bytes.writeUInt32BE(number, 1)
  return bytes
}

/** Opcodes of pickle. */
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
export function encodePickle(value: HashedValue): Buffer {
  const body: number[] = []
  writePickle(value, body)
  body.push(codes.stop)
  const head = Buffer.alloc(11)
  head.set([codes.protocol, 5, codes.frame])
  head.writeBigUInt64LE(BigInt(body.length), 3)
  return Buffer.concat([head, Buffer.from(body)])
}

function writePickle(value: HashedValue, body: number[]): void {
  if (value === null) body.push(codes.none)
  else if (typeof value === 'number') writeInteger(value, body)
  else if (typeof value === 'string') writeText(Buffer.from(value), body)
  else if (Buffer.isBuffer(value)) body.push(codes.shortBytes, value.length, ...value, codes.memoize)
  else {
    const items = value as readonly HashedValue[]
    const code = smallTuples[items.length]
    if (code === undefined) body.push(codes.mark)
    for (const item of items) writePickle(item, body)
    body.push(code ?? codes.tuple)
    if (items.length > 0) body.push(codes.memoize)
  }
}

function writeInteger(value: number, body: number[]): void {
  if (value < 0x100) body.push(codes.byte, value)
  else if (value < 0x10000) body.push(codes.twoBytes, value & 0xff, value >> 8)
  else writeFourBytes(codes.fourBytes, value, body)
}

function writeText(text: Buffer, body: number[]): void {
  if (text.length < 0x100) body.push(codes.shortText, text.length)
  else writeFourBytes(codes.text, text.length, body)
  for (const byte of text) body.push(byte)
  body.push(codes.memoize)
}

function writeFourBytes(code: number, value: number, body: number[]): void {
  body.push(code, value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >> 24)
}
