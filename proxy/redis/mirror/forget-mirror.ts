import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { RedisAccess } from '../connection/redis-connection.ts'
import { mirrorRedisKeys } from './mirror-keys.ts'

/** How many keys are removed with one command. */
const keysAtOnce = 256

/** Removes from Redis what is kept of a replica, and the tokens of these of its requests. What is left expires. */
export async function forgetMirror(
  redis: Pick<RedisAccess, 'write'>,
  namespace: string,
  replica: ReplicaId,
  requests: readonly RequestId[],
): Promise<void> {
  const keys = mirrorRedisKeys(namespace, replica)
  const [listed] = await redis.write([{ key: keys.buckets, name: 'zrange', args: [keys.buckets, 0, -1] }])
  const numbers = listed && 'value' in listed && Array.isArray(listed.value) ? listed.value.map(Number) : []
  const buckets = numbers.filter(Number.isSafeInteger).map((number) => keys.bucket(number))
  // the head goes last: whoever finds none writes what it knows again
  const all = [
    ...requests.map((request) => keys.tokens(request)),
    ...buckets,
    keys.reuse,
    keys.feed,
    keys.buckets,
    keys.head,
  ]
  for (let at = 0; at < all.length; at += keysAtOnce) {
    const some = all.slice(at, at + keysAtOnce)
    await redis.write([{ key: some[0]!, name: 'unlink', args: some }])
  }
}
