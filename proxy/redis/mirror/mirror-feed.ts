import type { SharedPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import { type RecordHead, readPrompt, readRecordHead, recordHeadBytes } from '../codec/mirror-record.ts'
import type { StreamEntry } from '../shared-part.ts'
import type { MirrorHead } from './mirror-scripts.ts'

/** Why a record is written, and the letter for it in Redis. `counted`: its tokens; `held`: how much of it is cached. */
export const recordLetters = { written: 'w', rewritten: 'r', counted: 'u', held: 'p', gone: 'g' } as const
export type RecordKind = keyof typeof recordLetters
const kinds = new Map(Object.entries(recordLetters).map(([kind, letter]) => [letter as string, kind as RecordKind]))

/** The record written for one request. */
export interface FedRecord {
  readonly kind: RecordKind
  readonly bucket: number
  readonly request: RequestId
  readonly head: RecordHead
  /** many requests have been sent since */
  readonly isLongPast?: boolean
  /** Returns the prompt if there is a valid one. */
  prompt(): SharedPrompt | undefined
}

/** What one proxy wrote in one batch. */
export interface FeedEntry extends MirrorHead {
  readonly id: string
  readonly count: number
  readonly proxy: string
  readonly anew: 'replaced' | 'cleared' | undefined
  /** what the engine said last about reuse, as JSON; '': nothing yet */
  readonly reuse: string
  readonly records: readonly FedRecord[]
}

const fixedBytes = 4 + 2 + 4 + 1 + recordHeadBytes

/** Decodes an entry. Returns undefined if it is invalid. */
export function readEntry({ id, fields }: StreamEntry): FeedEntry | undefined {
  if (fields.length !== 4 && fields.length !== 6) return undefined
  const [, line, , data, , reuse] = fields as [Buffer, Buffer, Buffer, Buffer, Buffer?, Buffer?]
  const [, count, proxy, life, epoch, anew, born, sequence, generation] =
    /^(\d+) (\S+) (\S+) (\d+) (replaced|cleared|) (\d+) (\d+) (.*)$/s.exec(line.toString()) ?? []
  const records = readRecords(data)
  if (count === undefined || !records) return undefined
  return {
    id,
    count: Number(count),
    proxy: proxy!,
    life: life!,
    epoch: Number(epoch),
    anew: (anew || undefined) as FeedEntry['anew'],
    born: Number(born),
    sequence: Number(sequence),
    generation: generation!,
    reuse: reuse?.toString() ?? '',
    records,
  }
}

function readRecords(data: Buffer): FedRecord[] | undefined {
  const records: FedRecord[] = []
  for (let at = 0; at < data.length; ) {
    if (at + fixedBytes > data.length) return undefined
    const [bucket, nameLength, promptLength] = [
      data.readUInt32BE(at),
      data.readUInt16BE(at + 4),
      data.readUInt32BE(at + 6),
    ]
    const kind = kinds.get(String.fromCharCode(data[at + 10]!))
    const head = readRecordHead(data.subarray(at + 11, at + fixedBytes))
    const name = at + fixedBytes
    const prompt = name + nameLength
    at = prompt + promptLength
    if (!head || at > data.length || !kind) return undefined
    const request = data.toString('utf8', name, prompt) as RequestId
    const bytes = data.subarray(prompt, at)
    records.push({ kind, bucket, request, head, prompt: () => promptOf(request, bytes) })
  }
  return records
}

/** Rejects a prompt that belongs to another request. */
function promptOf(request: RequestId, bytes: Buffer): SharedPrompt | undefined {
  const read = bytes.length > 0 ? readPrompt(bytes) : undefined
  return read?.request === request ? read.prompt : undefined
}
