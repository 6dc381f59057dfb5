import type { MirroredPrompt, SharedContext, SharedPrompt } from '#index/cache-event.ts'
import type { RequestId, ScopeId } from '#index/context-block.ts'
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
  /** tokens the engine said it holds; undefined: it has not said so yet */
  readonly reportedTokens: number | undefined
}

/** Bytes of a head; the scripts know how they lie. */
export const recordHeadBytes = 29

const version = 2
/** What is longer is not shared, and not read. */
export const maxRecordBytes: number = 1 << 20
const maxLength = 2 ** 31 - 1
/** A chat's template may be a thousand times as long as what is said. */
const mostDensity = 1e6
/** More blocks than a text may have and still be ordered. */
const maxBlocks = 1 << 16

/** Writes a head: version, epoch, sequence, held length, density (0: not known), tokens reported and one (0: none were). */
export function writeRecordHead(head: RecordHead): Buffer {
  const { epoch, sequence, heldLength, tokensPerCharacter = 0, reportedTokens = -1 } = head
  const bytes = Buffer.allocUnsafe(recordHeadBytes)
  bytes.writeUInt8(version, 0)
  bytes.writeUInt32BE(epoch, 1)
  bytes.writeDoubleBE(sequence, 5)
  bytes.writeUInt32BE(heldLength, 13)
  bytes.writeDoubleBE(tokensPerCharacter, 17)
  bytes.writeUInt32BE(Math.min(reportedTokens + 1, 0xffff_ffff), 25)
  return bytes
}

/** Understands a head; undefined for anything that cannot be relied on. */
export function readRecordHead(bytes: Buffer): RecordHead | undefined {
  if (bytes.length < recordHeadBytes || bytes[0] !== version) return undefined
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

/** Writes a prompt of a request down; undefined when it is too long to be shared. */
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

/** Understands what was written of a request's prompt, from `start` on; undefined for anything that cannot be relied on. */
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
