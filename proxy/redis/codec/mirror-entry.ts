import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import type { MirroredPrompt, SentContext } from '#index/cache-event.ts'
import type { BlockId, Context, RequestId, ScopeId } from '#index/context-block.ts'
import { isReuseReport } from '../../replicas/reports/callback-bodies.ts'
import { areWords, isWhole, pack, unpack } from './pack.ts'

/**
 * Why a record is written. `sent`, `known`: the whole request, which has just been sent, or which Redis may have lost;
 * `held`: how much of it is cached; `counted`: its tokens; `gone`: it is forgotten.
 */
export type RecordKind = 'sent' | 'known' | 'held' | 'counted' | 'gone'

/** What one proxy tells of one request. */
export interface MirrorRecord {
  readonly kind: RecordKind
  readonly request: RequestId
  /** characters of the prompt that are cached */
  readonly heldLength: number
  /** undefined until the engine has counted */
  readonly tokensPerCharacter: number | undefined
  /** tokens that the engine reported as cached; undefined if it has not reported yet */
  readonly reportedTokens: number | undefined
  /** of `sent` and `known`: what `readPrompt` reads */
  readonly prompt: Buffer | undefined
}

/**
 * The replica's state was reset. `replaced`: nothing counts as cached until reported again. `cleared`: the engine holds
 * nothing.
 */
export type Reset = 'replaced' | 'cleared'

/** What one proxy tells in one step. */
export interface MirrorEntry {
  /** any number, another one for each entry, and that of the entry before: shows that none is missing */
  readonly tag: number
  readonly before: number
  /** milliseconds since 1970 */
  readonly at: number
  /** the replica was reset: what is believed of it now begins with this entry */
  readonly anew: Reset | undefined
  /** the engine's generation, and when a proxy first heard of it, in milliseconds since 1970 */
  readonly generation: string
  readonly born: number
  /** up to which the engine's reports had been applied */
  readonly sequence: number
  /** all that these reports changed is in the log now */
  readonly isWhole: boolean
  /** what the engine says about reuse at any position; null: it does not reuse so */
  readonly reuse: AnyPositionReuse | null
  readonly records: readonly MirrorRecord[]
}

const version = 4
const kinds: readonly unknown[] = ['sent', 'known', 'held', 'counted', 'gone'] satisfies RecordKind[]
const resets: readonly unknown[] = [null, 'replaced', 'cleared'] satisfies (Reset | null)[]

/** Longer prompts are neither shared nor read. */
const maxPromptBytes = 1 << 20
const maxLength = 2 ** 31 - 1
/** More blocks than a text that is still ordered may have, and more contexts. */
const maxBlocks = 1 << 16
/** Names of blocks that we made ourselves are digests, in base64url. */
const digestBytes = 16
/** A chat template may be a thousand times as long as the message. */
const mostDensity = 1e6

/** Encodes an entry. */
export function writeEntry(entry: MirrorEntry): Buffer {
  const { tag, before, at, anew = null, generation, born, sequence, isWhole, reuse, records } = entry
  return pack([version, tag, before, at, anew, generation, born, sequence, isWhole, reuse, records.map(toRow)])
}

/** Decodes an entry. Returns undefined if it is invalid. */
export function readEntry(bytes: unknown): MirrorEntry | undefined {
  if (!Buffer.isBuffer(bytes)) return undefined
  const [written, tag, before, at, anew, generation, born, sequence, isAll, reuse, rows] = unpack(bytes, 11) ?? []
  const numbers = [tag, before, at, born, sequence]
  if (written !== version || !numbers.every((number) => isWhole(number, Number.MAX_SAFE_INTEGER))) return undefined
  if (typeof generation !== 'string' || typeof isAll !== 'boolean' || !resets.includes(anew)) return undefined
  if (!Array.isArray(rows) || !(reuse === null || isReuseReport(reuse))) return undefined
  const records = rows.map(readRow)
  if (records.includes(undefined)) return undefined
  const counts = { tag, before, at, born, sequence } as Pick<MirrorEntry, 'tag' | 'before' | 'at' | 'born' | 'sequence'>
  const reset = (anew ?? undefined) as Reset | undefined
  return { ...counts, anew: reset, generation, isWhole: isAll, reuse, records: records as MirrorRecord[] }
}

function toRow({ kind, request, heldLength, tokensPerCharacter, reportedTokens, prompt }: MirrorRecord): unknown[] {
  return [kinds.indexOf(kind), request, heldLength, tokensPerCharacter ?? null, reportedTokens ?? null, prompt ?? null]
}

function readRow(row: unknown): MirrorRecord | undefined {
  const [number, request, heldLength, density, reported, prompt] = Array.isArray(row) ? row : []
  const kind = kinds[number as number] as RecordKind | undefined
  if (kind === undefined || typeof request !== 'string' || request === '' || !isLength(heldLength)) return undefined
  if (density !== null && !(typeof density === 'number' && density > 0 && density <= mostDensity)) return undefined
  if (reported !== null && !isWhole(reported, Number.MAX_SAFE_INTEGER)) return undefined
  if (prompt !== null && !Buffer.isBuffer(prompt)) return undefined
  const counted = { tokensPerCharacter: density ?? undefined, reportedTokens: reported ?? undefined }
  return { kind, request: request as RequestId, heldLength, ...counted, prompt: prompt ?? undefined }
}

/**
 * Encodes a prompt with msgpack. Blocks are written as digests, except names that we did not make ourselves. Returns
 * undefined if it is too long.
 */
export function writePrompt({ contexts, symbols, ends, length }: MirroredPrompt): Buffer | undefined {
  const packed = contexts.map(({ scope, blocks, sizes, ends }) => [scope, packDigests(blocks) ?? blocks, sizes, ends])
  const bytes = pack([length, symbols, ends, packed])
  return bytes.length > maxPromptBytes ? undefined : bytes
}

/** Decodes a prompt. Returns undefined if it is invalid. */
export function readPrompt(bytes: Buffer): MirroredPrompt | undefined {
  if (bytes.length > maxPromptBytes) return undefined
  const [length, symbols, ends, packed] = unpack(bytes, 4) ?? []
  if (!isLength(length) || !Array.isArray(packed) || packed.length > maxBlocks) return undefined
  if (!areNumbers(symbols) || !areEnds(ends, length) || symbols.length !== ends.length) return undefined
  const contexts = packed.map((context) => readContext(context, length))
  return contexts.includes(undefined) ? undefined : { contexts: contexts as SentContext[], symbols, ends, length }
}

function readContext(packed: unknown, length: number): SentContext | undefined {
  const [scope, named, sizes, ends] = Array.isArray(packed) ? packed : []
  const blocks = readBlocks(named)
  if (typeof scope !== 'string' || !blocks || !areNumbers(sizes) || !areEnds(ends, length)) return undefined
  if (sizes.length !== blocks.length || ends.length !== blocks.length || !sizes.every(isLength)) return undefined
  return { scope: scope as ScopeId, blocks, sizes, ends }
}

/** Returns the digests that these names are, one after another; undefined if one of them is none. */
function packDigests(names: Context): Buffer | undefined {
  const digests = names.map((name) => Buffer.from(name, 'base64url'))
  const areDigests = digests.every(
    (bytes, i) => bytes.length === digestBytes && bytes.toString('base64url') === names[i],
  )
  return areDigests ? Buffer.concat(digests) : undefined
}

function readBlocks(named: unknown): Context | undefined {
  if (Buffer.isBuffer(named) && named.length % digestBytes === 0) {
    return Array.from({ length: named.length / digestBytes }, (_, i) => {
      return named.toString('base64url', i * digestBytes, (i + 1) * digestBytes) as BlockId
    })
  }
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
