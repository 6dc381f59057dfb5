import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { withoutByteOrderMark } from '../http/receive/read-received.ts'

const [deflate, inflate] = [promisify(deflateRaw), promisify(inflateRaw)]
/** The fastest level: texts are held only while an answer runs. */
const level = 1

interface RequestTexts {
  /** by prompt: the texts of its pieces */
  readonly pieces: readonly (readonly string[])[]
  /** as received */
  readonly body: Buffer
}

/** The same, while the answer runs. */
export interface PackedTexts {
  readonly pieces: Buffer
  readonly body: Buffer
  /** in bytes */
  readonly size: number
}

/** Packs texts on other threads, so that they take little room. */
export async function packTexts({ pieces, body }: RequestTexts): Promise<PackedTexts> {
  const packed = await Promise.all([deflate(JSON.stringify(pieces), { level }), deflate(body, { level })])
  return { pieces: packed[0], body: packed[1], size: packed[0].length + packed[1].length }
}

/** Returns the texts that were packed. */
export async function unpackTexts(packed: PackedTexts): Promise<RequestTexts> {
  const [pieces, body] = await Promise.all([inflate(packed.pieces), inflate(packed.body)])
  return { pieces: JSON.parse(pieces.toString()) as string[][], body }
}

/** Returns a JSON body as one line. All its line ends are between values, because strings escape theirs. */
export function toOneLine(body: Buffer): string {
  return withoutByteOrderMark(body)
    .toString()
    .replaceAll(/[\r\n]+/g, ' ')
    .trim()
}
