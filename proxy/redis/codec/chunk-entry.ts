import type { ChunkRecord } from '../../chunks/table/chunk-record.ts'
import { anchorLength } from '../../chunks/table/folded-text.ts'
import { areWords, isWhole, pack, unpack } from './pack.ts'

/** A report of one proxy about the chunks of one scope. */
export type ChunkEntry =
  | { readonly kind: 'learned' | 'repeated'; readonly scope: string; readonly records: readonly ChunkRecord[] }
  /** `digests` undefined: all chunks of the scope */
  | { readonly kind: 'forgotten'; readonly scope: string; readonly digests: readonly Int32Array[] | undefined }

const version = 4
const most = 2 ** 32 - 1
const SCOPE = /^(?:\*|[=@][\s\S]{1,512})$/
const BLANK = /^\s{0,64}$/

/** Encodes an entry. */
export function writeChunkEntry(entry: ChunkEntry): Buffer {
  const told = entry.kind === 'forgotten' ? entry.digests?.map((digest) => [...digest]) : entry.records.map(toRow)
  return pack([version, entry.scope, entry.kind, told ?? null])
}

/** Decodes an entry. Returns undefined if it is invalid. */
export function readChunkEntry(data: Buffer): ChunkEntry | undefined {
  const [written, scope, kind, told] = unpack(data, 4) ?? []
  if (written !== version || typeof scope !== 'string' || !SCOPE.test(scope)) return undefined
  if (kind === 'forgotten' && told === null) return { kind, scope, digests: undefined }
  if (!Array.isArray(told)) return undefined
  if (kind === 'forgotten')
    return told.every(isDigest) ? { kind, scope, digests: told.map((words) => Int32Array.from(words)) } : undefined
  const records = told.map(readRow)
  const isKnown = kind === 'learned' || kind === 'repeated'
  return isKnown && !records.includes(undefined) ? { kind, scope, records: records as ChunkRecord[] } : undefined
}

function toRow(record: ChunkRecord): unknown[] {
  const { digest, hash, anchor, anchorPlace, length, flags, sighting, source, order, id, lead, tail } = record
  return [[...digest], lead, tail, hash, anchor, anchorPlace, length, flags, sighting, source, order, ...id]
}

function readRow(row: unknown): ChunkRecord | undefined {
  if (!Array.isArray(row)) return undefined
  const [digest, lead, tail, hash, anchor, anchorPlace, length, flags, sighting, source, order, ...id] = row
  if (!isDigest(digest) || !areWords([hash, anchor, ...id]) || id.length !== 2) return undefined
  const areCounts = [anchorPlace, length, flags, sighting, source, order].every((count) => isWhole(count, most))
  const areEnds = [lead, tail].every((end) => typeof end === 'string' && BLANK.test(end))
  if (!areCounts || !areEnds || length < anchorLength || anchorPlace + anchorLength > length) return undefined
  const numbers = { hash, anchor, anchorPlace, length, flags, sighting, source, order }
  return { digest: Int32Array.from(digest), lead, tail, ...numbers, id: [id[0], id[1]] }
}

function isDigest(words: unknown): words is number[] {
  return areWords(words) && words.length === 4
}
