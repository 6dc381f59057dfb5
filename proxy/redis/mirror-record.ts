import type { SentContext, SentPrompt } from '#index/cache-event.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/** What is believed of a request, and as of when: a later stamp is closer to the engine. */
export interface RecordHead {
  /** how often the replica had begun anew */
  readonly epoch: number
  /** up to where the engine's reports were taken in */
  readonly sequence: number
  /** characters of the prompt */
  readonly heldLength: number
  /** undefined until the engine has counted */
  readonly tokensPerCharacter: number | undefined
}

/** Bytes of a head; the scripts know how they lie. */
export const recordHeadBytes = 25

const version = 1
/** What is longer is not shared, and not read. */
export const maxRecordBytes: number = 1 << 20
const maxLength = 2 ** 31
/** A chat's template may be a thousand times as long as what is said. */
const mostDensity = 1e6
/** More blocks than a text may have and still be ordered. */
const maxBlocks = 1 << 16

/** Writes a head: version, epoch, sequence, held length, density (0: not known). */
export function writeRecordHead({ epoch, sequence, heldLength, tokensPerCharacter = 0 }: RecordHead): Buffer {
  const bytes = Buffer.allocUnsafe(recordHeadBytes)
  bytes.writeUInt8(version, 0)
  bytes.writeUInt32BE(epoch, 1)
  bytes.writeDoubleBE(sequence, 5)
  bytes.writeUInt32BE(heldLength, 13)
  bytes.writeDoubleBE(tokensPerCharacter, 17)
  return bytes
}

/** Understands a head; undefined for anything that cannot be relied on. */
export function readRecordHead(bytes: Buffer): RecordHead | undefined {
  if (bytes.length < recordHeadBytes || bytes[0] !== version) return undefined
  const sequence = bytes.readDoubleBE(5)
  const density = bytes.readDoubleBE(17)
  if (!Number.isSafeInteger(sequence) || sequence < 0 || !(density >= 0 && density <= mostDensity)) return undefined
  return {
    epoch: bytes.readUInt32BE(1),
    sequence,
    heldLength: bytes.readUInt32BE(13),
    tokensPerCharacter: density === 0 ? undefined : density,
  }
}

/** Writes a prompt of a request down; undefined when it is too long to be shared. */
export function writePrompt(request: string, { contexts, prefixes, ends, length }: SentPrompt): Buffer | undefined {
  const writer = new ByteWriter()
  writer.text(request)
  writer.number(length)
  writer.number(prefixes.length)
  for (const prefix of prefixes) writer.text(prefix)
  writer.ascending(ends)
  writer.number(contexts.length)
  for (const { scope, blocks, sizes, ends } of contexts) {
    writer.text(scope)
    writer.number(blocks.length)
    for (const block of blocks) writer.text(block)
    for (const size of sizes) writer.number(size)
    writer.ascending(ends)
  }
  return writer.length > maxRecordBytes ? undefined : writer.bytes()
}

/** Understands what was written of a request's prompt; undefined for anything that cannot be relied on. */
export function readPrompt(bytes: Buffer): { readonly request: string; readonly prompt: SentPrompt } | undefined {
  if (bytes.length > maxRecordBytes) return undefined
  const reader = new ByteReader(bytes)
  const request = reader.text()
  const length = reader.number(maxLength)
  const marks = reader.number(maxBlocks)
  const prefixes = reader.many(marks, () => reader.text())
  const ends = reader.ascending(marks, length)
  const contexts = reader.many(reader.number(maxBlocks), (): SentContext => {
    const scope = reader.text(true)
    const count = reader.number(maxBlocks)
    return {
      scope: scope as never,
      blocks: reader.many(count, () => reader.text(true)) as never,
      sizes: reader.many(count, () => reader.number(maxLength)),
      ends: reader.ascending(count, length),
    }
  })
  if (!reader.isWhole || request === '') return undefined
  return { request, prompt: { contexts, prefixes: prefixes as never, ends, length } }
}
