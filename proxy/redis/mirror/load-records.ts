import { TimeSlices } from '../../http/bounds/event-loop.ts'
import { readPrompt, readRecordHead, recordHeadBytes } from '../codec/mirror-record.ts'
import type { RedisCommand, RedisReply } from '../connection/redis-command.ts'
import type { RedisAccess } from '../connection/redis-connection.ts'
import type { MirrorKeys } from '../redis-keys.ts'
import type { FedRecord } from './mirror-feed.ts'

const bucketsPerRead = 8

/** Demand history keeps at most this many requests (index/ordering/demand-history.ts); older records need not feed it. */
const remembered = 1 << 17

/**
 * Passes every record of a mirror (about `count`) to `take`, oldest first, yielding to other work in between; undefined
 * stands for an unreadable record. Returns false if Redis' reply was incomplete.
 */
export async function loadRecords(
  redis: RedisAccess,
  keys: MirrorKeys,
  count: number,
  take: (record: FedRecord | undefined) => void,
): Promise<boolean> {
  const buckets = await listBuckets(redis, keys)
  if (!buckets) return false
  let told = 0
  for (let at = 0; at < buckets.length; at += bucketsPerRead) {
    const some = buckets.slice(at, at + bucketsPerRead)
    const replies = await redis.write(some.map((bucket) => valuesCommand(keys.bucket(bucket))))
    const values = replies.map(toBuffers)
    if (values.includes(undefined)) return false
    const records = values.flatMap((own, i) => own!.map((value) => [some[i]!, value] as const))
    await TimeSlices.each(records, ([bucket, value]) => {
      told += 1
      take(toRecord(bucket, value, told + remembered < count))
    })
  }
  return true
}

/** Returns the numbers of a mirror's buckets, the oldest first; undefined if Redis does not tell. */
export async function listBuckets(redis: Pick<RedisAccess, 'write'>, keys: MirrorKeys): Promise<number[] | undefined> {
  const [listed] = await redis.write([{ key: keys.buckets, name: 'zrange', args: [keys.buckets, 0, -1] }])
  if (!listed || 'error' in listed || !Array.isArray(listed.value)) return undefined
  return listed.value.map(Number).filter(Number.isSafeInteger)
}

function valuesCommand(key: string): RedisCommand {
  return { key, name: 'hvalsBuffer', args: [key] }
}

function toBuffers(reply: RedisReply): readonly Buffer[] | undefined {
  const values = 'value' in reply && Array.isArray(reply.value) ? reply.value : undefined
  return values?.every(Buffer.isBuffer) ? values : undefined
}

const unreadable = { epoch: 0, sequence: 0, heldLength: 0, tokensPerCharacter: undefined, reportedTokens: undefined }

function toRecord(bucket: number, value: Buffer, isLongPast: boolean): FedRecord | undefined {
  const head = readRecordHead(value) ?? unreadable
  const read = readPrompt(value.subarray(recordHeadBytes))
  return read && { kind: 'rewritten', bucket, request: read.request, head, isLongPast, prompt: () => read.prompt }
}
