import { TimeSlices } from '../../http/bounds/event-loop.ts'
import { readPrompt, readRecordHead, recordHeadBytes } from '../codec/mirror-record.ts'
import type { RedisReply } from '../connection/redis-command.ts'
import type { RedisAccess } from '../connection/redis-connection.ts'
import type { FedRecord } from './mirror-feed.ts'
import type { MirrorKeys } from './mirror-keys.ts'

const bucketsPerRead = 4

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
  const [listed] = await redis.write([{ key: keys.buckets, name: 'zrange', args: [keys.buckets, 0, -1] }])
  if (!listed || 'error' in listed || !Array.isArray(listed.value)) return false
  const buckets = listed.value.map(Number).filter(Number.isSafeInteger)
  const slices = new TimeSlices()
  let told = 0
  for await (const { bucket, values } of readBuckets(redis, keys, buckets)) {
    if (!values) return false
    for (const value of values) {
      told += 1
      take(toRecord(bucket, value, told + remembered < count))
      if (slices.isOver) await slices.pass()
    }
  }
  return true
}

/** Yields the contents of each bucket, reading ahead. `values` is undefined if Redis did not return them. */
async function* readBuckets(
  redis: RedisAccess,
  keys: MirrorKeys,
  buckets: readonly number[],
): AsyncGenerator<{ readonly bucket: number; readonly values: readonly Buffer[] | undefined }> {
  const read = (from: number): ReturnType<RedisAccess['write']> =>
    redis.write(
      buckets
        .slice(from, from + bucketsPerRead)
        .map((bucket) => ({ key: keys.bucket(bucket), name: 'hvalsBuffer', args: [keys.bucket(bucket)] })),
    )
  let next = read(0)
  for (let at = 0; at < buckets.length; at += bucketsPerRead) {
    const replies = await next
    if (at + bucketsPerRead < buckets.length) next = read(at + bucketsPerRead)
    for (const [i, reply] of replies.entries()) yield { bucket: buckets[at + i]!, values: toBuffers(reply) }
  }
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
