import type { RedisReply } from '../connection/redis-command.ts'

/** The head of a replica's mirror in Redis (mirror-scripts.ts). */
export interface MirrorHead {
  readonly epoch: number
  readonly life: string
  readonly generation: string
  readonly born: number
  readonly sequence: number
}

export interface MirrorStatus {
  /** undefined if Redis has none */
  readonly head: MirrorHead | undefined
  /** entries of the feed so far */
  readonly count: number
  readonly lastId: string
  readonly records: number
}

export interface WriteResult {
  readonly isRefused: boolean
  readonly head: MirrorHead
  /** entries of the feed including this batch's, and the id of that entry */
  readonly count: number
  readonly id: string
  /** indices of records that should have been changed but are missing */
  readonly missing: readonly number[]
}

/** Decodes the reply to `readMirrorStatus`. Returns undefined if it is invalid. */
export function readStatus(reply: RedisReply | undefined): MirrorStatus | undefined {
  const values = textsOf(reply, 8)
  if (!values) return undefined
  const [, , , , , count, lastId, records] = values as [string, string, string, string, string, string, string, string]
  if (values[0] === '') return { head: undefined, count: 0, lastId: '0-0', records: 0 }
  const head = readHead(values)
  if (!head || !/^\d+$/.test(count) || !/^\d+-\d+$/.test(lastId)) return undefined
  return { head, count: Number(count), lastId, records: Number(records) }
}

/** Decodes the reply to `writeMirror`. Returns undefined if it is invalid. */
export function readWriteResult(reply: RedisReply | undefined): WriteResult | undefined {
  const values = textsOf(reply, 9)
  const head = values && readHead(values.slice(1))
  if (!values || !head) return undefined
  const missing = values[8]!.split(' ').filter(Boolean).map(Number)
  return { isRefused: values[0] === 'refused', head, count: Number(values[6]), id: values[7]!, missing }
}

function readHead([epoch, life, generation, born, sequence]: readonly string[]): MirrorHead | undefined {
  const numbers = [epoch, born, sequence].map((text) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : Number.NaN))
  if (numbers.some(Number.isNaN) || !life || numbers[0]! > 0xffff_ffff) return undefined
  return { epoch: numbers[0]!, life, generation: generation!, born: numbers[1]!, sequence: numbers[2]! }
}

function textsOf(reply: RedisReply | undefined, count: number): string[] | undefined {
  if (!reply || 'error' in reply || !Array.isArray(reply.value) || reply.value.length !== count) return undefined
  return reply.value.map((value) => (value === null ? '' : String(value)))
}
