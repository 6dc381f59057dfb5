import type { MirroredPrompt, SharedContext, SharedPrompt } from '#index/cache-event.ts'
import type { BlockId, RequestId, ScopeId } from '#index/context-block.ts'
import { Digests, digestBytes, packDigests } from '#index/digests.ts'
import { areWords, isWhole, pack, unpack } from './pack.ts'

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
export const recordVersion = 3
export const recordHeadBytes = 29
/** What follows the version in a head, as Redis scripts unpack it; `writeRecordHead` names the fields. */
export const recordHeadFormat = '>I4dI4dI4'

/** Longer records are neither shared nor read. */
const maxRecordBytes = 1 << 20
const maxLength = 2 ** 31 - 1
/** More blocks than a text that is still ordered may have, and more contexts. */
const maxBlocks = 1 << 16
/** A chat template may be a thousand times as long as the message. */
const mostDensity = 1e6

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
  const packed = contexts.map(({ scope, blocks, sizes, ends }) => [scope, packDigests(blocks) ?? blocks, sizes, ends])
  const bytes = pack([request, length, symbols, ends, packed])
  return bytes.length > maxRecordBytes ? undefined : bytes
}

/** Decodes a request's prompt. Returns undefined if it is invalid. */
export function readPrompt(bytes: Buffer): { readonly request: RequestId; readonly prompt: SharedPrompt } | undefined {
  if (bytes.length > maxRecordBytes) return undefined
  const [request, length, symbols, ends, packed] = unpack(bytes, 5) ?? []
  if (typeof request !== 'string' || request === '' || !isLength(length)) return undefined
  if (!Array.isArray(packed) || packed.length > maxBlocks) return undefined
  if (!areNumbers(symbols) || !areEnds(ends, length) || symbols.length !== ends.length) return undefined
  const contexts = packed.map((context) => readContext(context, length))
  if (contexts.includes(undefined)) return undefined
  return { request: request as RequestId, prompt: { contexts: contexts as SharedContext[], symbols, ends, length } }
}

function readContext(packed: unknown, length: number): SharedContext | undefined {
  const [scope, named, sizes, ends] = Array.isArray(packed) ? packed : []
  const blocks = readBlocks(named)
  if (typeof scope !== 'string' || !blocks || !areNumbers(sizes) || !areEnds(ends, length)) return undefined
  if (sizes.length !== blocks.length || ends.length !== blocks.length || !sizes.every(isLength)) return undefined
  return { scope: scope as ScopeId, blocks, sizes, ends }
}

function readBlocks(named: unknown): SharedContext['blocks'] | undefined {
  if (Buffer.isBuffer(named)) return named.length % digestBytes === 0 ? new Digests(named) : undefined
  const areNames = Array.isArray(named) && named.every((name) => typeof name === 'string')
  return areNames ? (named as BlockId[]) : undefined
}

function isLength(value: unknown): value is number {
  return isWhole(value, maxLength)
}

function areNumbers(values: unknown): values is number[] {
  return areWords(values) && values.length <= maxBlocks
}

/** Returns whether these are ascending places in a prompt of this length. */
function areEnds(values: unknown, length: number): values is number[] {
  return areNumbers(values) && values.every((end, i) => end >= (values[i - 1] ?? 0) && end <= length)
}
