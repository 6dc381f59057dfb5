import type { ChunkRecord } from '../../chunks/table/chunk-record.ts'
import { anchorLength } from '../../chunks/table/folded-text.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/** A report of one proxy about the chunks of one scope. */
export type ChunkEntry =
  | { readonly kind: 'learned' | 'repeated'; readonly scope: string; readonly records: readonly ChunkRecord[] }
  /** `digests` undefined: all chunks of the scope */
  | { readonly kind: 'forgotten'; readonly scope: string; readonly digests: readonly Int32Array[] | undefined }

/** An entry of the feed. */
export interface FedEntry {
  readonly id: string
  readonly proxy: string
  /** undefined: invalid */
  readonly entry: ChunkEntry | undefined
}

const version = 2
const most = 2 ** 32 - 1
const [sure, unsureOrder, first, last, apart] = [1, 2, 4, 8, 16]
const SCOPE = /^(?:\*|[=@][\s\S]{1,512})$/

/** Encodes an entry. */
export function writeChunkEntry(entry: ChunkEntry): Buffer {
  const writer = new ByteWriter()
  writer.number(version)
  writer.text(entry.scope)
  writer.number(['learned', 'repeated', 'forgotten'].indexOf(entry.kind))
  if (entry.kind === 'forgotten') {
    writer.number(entry.digests === undefined ? 0 : entry.digests.length + 1)
    for (const digest of entry.digests ?? []) for (const word of digest) writer.word(word)
    return writer.bytes()
  }
  writer.number(entry.records.length)
  for (const record of entry.records) writeRecord(writer, record)
  return writer.bytes()
}

/** Decodes a reply to XREAD. */
export function readChunkFeed(reply: unknown): FedEntry[] {
  const entries = Array.isArray(reply) ? (reply[0]?.[1] as unknown) : undefined
  return Array.isArray(entries) ? entries.flatMap(readFed) : []
}

function readFed(value: unknown): FedEntry[] {
  const [id, fields] = Array.isArray(value) ? value : []
  if (!Buffer.isBuffer(id)) return []
  const isSound = Array.isArray(fields) && fields.length === 2 && fields.every(Buffer.isBuffer)
  if (!isSound) return [{ id: id.toString(), proxy: '', entry: undefined }]
  const [proxy, data] = fields as [Buffer, Buffer]
  return [{ id: id.toString(), proxy: proxy.toString(), entry: readChunkEntry(data) }]
}

/** Decodes an entry. Returns undefined if it is invalid. */
export function readChunkEntry(data: Buffer): ChunkEntry | undefined {
  const reader = new ByteReader(data)
  if (reader.number(most) !== version) return undefined
  const scope = reader.text()
  const kind = (['learned', 'repeated', 'forgotten'] as const)[reader.number(2)]!
  const count = reader.number(most)
  let entry: ChunkEntry
  if (kind === 'forgotten') {
    const digests = count === 0 ? undefined : reader.many(count - 1, () => Int32Array.from(reader.words(4)))
    entry = { kind, scope, digests }
  } else entry = { kind, scope, records: reader.many(count, () => readRecord(reader)) }
  if (!reader.isWhole || !SCOPE.test(scope)) return undefined
  return entry.kind === 'forgotten' || entry.records.every(isSound) ? entry : undefined
}

function writeRecord(writer: ByteWriter, record: ChunkRecord): void {
  const { isSure, isOrderUnsure, isFirst, isLast, isApart } = record
  for (const word of record.digest) writer.word(word)
  writer.word(record.hash)
  writer.word(record.anchor)
  writer.number(record.anchorPlace)
  writer.number(record.length)
  const ends = (isFirst ? first : 0) | (isLast ? last : 0)
  writer.number((isSure ? sure : 0) | (isOrderUnsure ? unsureOrder : 0) | ends | (isApart ? apart : 0))
  writer.word(record.sighting | 0)
  writer.number(record.source)
  writer.number(record.order)
  for (const word of record.id) writer.word(word)
  writer.text(record.lead)
  writer.text(record.tail)
}

function readRecord(reader: ByteReader): ChunkRecord {
  const digest = Int32Array.from(reader.words(4))
  const [hash = 0, anchor = 0] = reader.words(2)
  const anchorPlace = reader.number(most)
  const length = reader.number(most)
  const flags = reader.number(31)
  const [sighting = 0] = reader.words(1)
  const source = reader.number(most)
  const order = reader.number(most)
  const [id = 0, rest = 0] = reader.words(2)
  return {
    digest,
    hash,
    anchor,
    anchorPlace,
    length,
    isSure: (flags & sure) !== 0,
    isOrderUnsure: (flags & unsureOrder) !== 0,
    isFirst: (flags & first) !== 0,
    isLast: (flags & last) !== 0,
    isApart: (flags & apart) !== 0,
    sighting: sighting >>> 0,
    source,
    order,
    id: [id, rest],
    lead: reader.text(),
    tail: reader.text(),
  }
}

function isSound({ digest, anchorPlace, length, lead, tail }: ChunkRecord): boolean {
  const isPlaced = length >= anchorLength && anchorPlace + anchorLength <= length
  return isPlaced && digest.length === 4 && /^\s{0,64}$/.test(lead) && /^\s{0,64}$/.test(tail)
}
