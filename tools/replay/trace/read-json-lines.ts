import { readFile } from 'node:fs/promises'
import { crc32, type InflateRaw, inflateRawSync } from 'node:zlib'
import { isObject, tryJson } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { byteLines } from '../../byte-lines.ts'

/** A line of a JSONL file, with its location for messages. */
export interface Line {
  readonly where: string
  /** its number in the file, from 1 */
  readonly number: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** The lines of a file, and how much of it could not be read. */
interface JsonLines {
  readonly lines: readonly Line[]
  /** how many of the file's bytes are left out because they are cut or damaged */
  readonly lost: number
  /** in bytes */
  readonly size: number
}

/**
 * Reads a file with a JSON object per line, gzipped if its name ends in `.gz`. Of a gzipped file, only complete members
 * are read. Skips blank lines.
 */
export async function readJsonLines(file: string): Promise<JsonLines> {
  const packed = await readFile(file).catch((cause: Error) => {
    throw new ConfigError(`cannot read ${file}: ${cause.message}`)
  })
  const { bytes, lost } = file.endsWith('.gz') ? unpackMembers(packed) : { bytes: packed, lost: 0 }
  if (lost > 0 && lost === packed.length) {
    throw new ConfigError(`${file} is no gzip file, or nothing of it can be read`)
  }
  const lines: Line[] = []
  // decoded one by one: all together may be longer than a string can be
  for (const { number, bytes: line } of byteLines(file, [bytes])) {
    // a byte order mark is not content
    const text = line.toString().replace(/^\uFEFF/, '')
    if (text.trim() !== '') lines.push(toLine(file, number, text))
  }
  return { lines, lost, size: packed.length }
}

function toLine(file: string, number: number, text: string): Line {
  const where = `${file}:${number}`
  const fields = tryJson(text)
  if (fields === undefined) throw new ConfigError(`${where}: not a line of JSON`)
  if (!isObject(fields)) throw new ConfigError(`${where}: a JSON object is expected`)
  return { where, number, fields }
}

const magic = Buffer.from([0x1f, 0x8b, 8])
const fixedHeaderBytes = 10
/** CRC and length of the unpacked bytes, four bytes each */
const trailerBytes = 8
/** flags of the header: what it has after its fixed part */
const flag = { crc: 2, extra: 4, name: 8, comment: 16 }

/** What could be read of a gzip file. */
interface Unpacked {
  readonly bytes: Buffer
  /** how many bytes of the file are not in a complete member */
  readonly lost: number
}

/**
 * Unpacks the members of a gzip file one by one, and leaves out those that are cut or damaged, wherever they are: a
 * recorded trace has a member for each second, and a member ends with a line. What is read has the right checksum.
 */
export function unpackMembers(file: Buffer): Unpacked {
  const members: Buffer[] = []
  let lost = 0
  let at = 0
  while (at < file.length) {
    const start = indexOrEnd(file, magic, at)
    lost += start - at
    const member = unpackMember(file, start)
    if (member) members.push(member.bytes)
    // after a damaged member, the next one may begin anywhere after its first byte
    const end = member?.end ?? Math.min(start + 1, file.length)
    if (!member) lost += end - start
    at = end
  }
  return { bytes: Buffer.concat(members), lost }
}

function unpackMember(file: Buffer, start: number): { bytes: Buffer; end: number } | undefined {
  const begin = endOfHeader(file, start)
  try {
    const { buffer, engine } = inflateRawSync(file.subarray(begin), { info: true }) as unknown as Inflated
    const trailer = begin + engine.bytesWritten
    // throws if the file ends earlier
    const isWhole = file.readUInt32LE(trailer) === crc32(buffer) && file.readUInt32LE(trailer + 4) === buffer.length
    return isWhole ? { bytes: buffer, end: trailer + trailerBytes } : undefined
  } catch {
    return undefined
  }
}

/** The result of zlib's `info: true`, which the types of Node 20 do not have. */
interface Inflated {
  readonly buffer: Buffer
  /** its `bytesWritten` is where the compressed data ended */
  readonly engine: InflateRaw
}

function endOfHeader(file: Buffer, start: number): number {
  const flags = file[start + 3] ?? 0
  let at = start + fixedHeaderBytes
  if (flags & flag.extra) at += 2 + (file[at] ?? 0) + 256 * (file[at + 1] ?? 0)
  if (flags & flag.name) at = indexOrEnd(file, 0, at) + 1
  if (flags & flag.comment) at = indexOrEnd(file, 0, at) + 1
  return flags & flag.crc ? at + 2 : at
}

function indexOrEnd(file: Buffer, wanted: Buffer | number, from: number): number {
  const found = file.indexOf(wanted, from)
  return found === -1 ? file.length : found
}
