import type { MirroredPrompt, SharedContext, SharedPrompt } from '#index/cache-event.ts'
import type { RequestId, ScopeId } from '#index/context-block.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/** What is believed about a request, and as of when: a later stamp (epoch, sequence) is closer to the engine. */
export interface RecordHead {
  /** how often the replica had been reset */
  readonly epoch: number
  /** the sequence up to which the engine's reports had been applied */
  readonly sequence: number
  /** characters of the prompt that are cached */
  readonly heldLength: number
  /** undefined until the engine has counted */
  readonly tokensPerCharacter: number | undefined
  /** tokens that the engine reported as cached; undefined if it has not reported yet */
  readonly reportedTokens: number | undefined
}

/** The first byte of a record. */
export const recordVersion = 2
/** Bytes of a head. */
export const recordHeadBytes = 29
/** What follows the version in a head, as Redis scripts unpack it; `writeRecordHead` names the fields. */
export const recordHeadFormat = '>I4dI4dI4'

/** Longer records are neither shared nor read. */
const maxRecordBytes = 1 << 20
const maxLength = 2 ** 31 - 1
/** A chat template may be a thousand times as long as the message. */
const mostDensity = 1e6
/** More blocks than a text that is still ordered may have. */
const maxBlocks = 1 << 16

/** Encodes a head: version, epoch, sequence, held length, density (0: unknown), reported tokens plus one (0: none). */
export function writeRecordHead(head: RecordHead): Buffer {
  const { epoch, sequence, heldLength, tokensPerCharacter = 0, reportedTokens = -1 } = head
  const bytes = Buffer.allocUnsafe(recordHeadBytes)
  bytes.writeUInt8(recordVersion, 0)
  bytes.writeUInt32BE(epoch, 1)
  bytes.writeDoubleBE(sequence, 5)
  bytes.writeUInt32BE(heldLength, 13)
  bytes.writeDoubleBE(tokensPerCharacter, 17)
  bytes.writeUInt32BE(Math.min(reportedTokens + 1, 0xffff_ffff), 25)
  return bytes
}

/** Decodes a head. Returns undefined if it is invalid. */
export function readRecordHead(bytes: Buffer): RecordHead | undefined {
  if (bytes.length < recordHeadBytes || bytes[0] !== recordVersion) return undefined
  const sequence = bytes.readDoubleBE(5)
  const density = bytes.readDoubleBE(17)
  const reported = bytes.readUInt32BE(25)
  if (!Number.isSafeInteger(sequence) || sequence < 0 || !(density >= 0 && density <= mostDensity)) return undefined
  return {
    epoch: bytes.readUInt32BE(1),
    sequence,
    heldLength: bytes.readUInt32BE(13),
    tokensPerCharacter: density === 0 ? undefined : density,
    reportedTokens: reported === 0 ? undefined : reported - 1,
  }
}

/** Encodes a request's prompt. Returns undefined if it is too long to be shared. */
export function writePrompt(request: string, { contexts, symbols, ends, length }: MirroredPrompt): Buffer | undefined {
  const writer = new ByteWriter()
  writer.text(request)
  writer.number(length)
  writer.number(symbols.length)
  for (const symbol of symbols) writer.word(symbol)
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

/** Decodes a request's prompt from `start` on. Returns undefined if it is invalid. */
export function readPrompt(
  bytes: Buffer,
  start = 0,
): { readonly request: RequestId; readonly prompt: SharedPrompt } | undefined {
  if (bytes.length - start > maxRecordBytes) return undefined
  const reader = new ByteReader(bytes, start)
  const request = reader.text() as RequestId
  const length = reader.number(maxLength)
  const marks = reader.number(maxBlocks)
  const symbols = reader.words(marks)
  const ends = reader.ascending(marks, length)
  const contexts = reader.many(reader.number(maxBlocks), (): SharedContext => {
    const scope = reader.text() as ScopeId
    const count = reader.number(maxBlocks)
    return {
      scope,
      blocks: reader.blocks(count),
      sizes: reader.numbers(count, maxLength),
      ends: reader.ascending(count, length),
    }
  })
  if (!reader.isWhole || request === '') return undefined
  return { request, prompt: { contexts, symbols, ends, length } }
}
