import type { FedRecord } from './mirror-feed.ts'
import type { MirrorKeys } from './mirror-keys.ts'
import { readPrompt, readRecordHead, recordHeadBytes } from './mirror-record.ts'
import type { RedisAccess } from './redis-connection.ts'
import { TimeSlices } from './time-slices.ts'

const bucketsPerRead = 4

/** More are not remembered for what is asked for (index/prefix-ordering.ts), if they are of eight blocks or more. */
const remembered = 1 << 17

/**
 * Tells of all records of a mirror, of which there are about `count`, those sent first first, in slices; false when
 * Redis did not tell all of it. What cannot be relied on is told without a prompt.
 */
export async function loadRecords(
  redis: RedisAccess,
  keys: MirrorKeys,
  count: number,
  take: (record: FedRecord) => void,
): Promise<boolean> {
  const [listed] = await redis.write([{ key: keys.buckets, name: 'zrange', args: [keys.buckets, 0, -1] }])
  if (!listed || 'error' in listed || !Array.isArray(listed.value)) return false
  const buckets = listed.value.map(Number).filter(Number.isSafeInteger)
  const slices = new TimeSlices()
  let told = 0
  for (let at = 0; at < buckets.length; at += bucketsPerRead) {
    for await (const record of readBuckets(redis, keys, buckets.slice(at, at + bucketsPerRead))) {
      if (record === null) return false
      told += 1
      take(told + remembered < count ? { ...record, isLongPast: true } : record)
      if (slices.isOver) await slices.pass()
    }
  }
  return true
}

/** The records of some buckets; null where Redis did not tell. */
async function* readBuckets(
  redis: RedisAccess,
  keys: MirrorKeys,
  buckets: readonly number[],
): AsyncGenerator<FedRecord | null> {
  const replies = await redis.write(
    buckets.map((bucket) => ({ key: keys.bucket(bucket), name: 'hvalsBuffer', args: [keys.bucket(bucket)] })),
  )
  for (const [i, reply] of replies.entries()) {
    const values = 'value' in reply && Array.isArray(reply.value) ? reply.value : [null]
    for (const value of values) yield Buffer.isBuffer(value) ? toRecord(buckets[i]!, value) : null
  }
}

function toRecord(bucket: number, value: Buffer): FedRecord {
  const head = readRecordHead(value) ?? { epoch: 0, sequence: 0, heldLength: 0, tokensPerCharacter: undefined }
  const read = readPrompt(value.subarray(recordHeadBytes))
  return { kind: 'r', bucket, request: (read?.request ?? '') as never, head, prompt: () => read?.prompt }
}
