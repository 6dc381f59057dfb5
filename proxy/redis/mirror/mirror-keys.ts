import type { ReplicaId, RequestId } from '#index/context-block.ts'

/** The keys of one replica's mirror, all in one slot of a cluster. */
export interface MirrorKeys {
  /** the state of the replica as a whole, and the fence */
  readonly head: string
  /** recent writes of all proxies, in order */
  readonly feed: string
  /** the numbers of all buckets */
  readonly buckets: string
  /** what its engine says about reuse at any position */
  readonly reuse: string
  /** what the key of a bucket begins with; its number follows */
  readonly bucketPrefix: string
  /** The key for requests that were sent at about the same time. */
  bucket(number: number): string
  /** The key for the tokens of a request's prompt. */
  tokens(request: RequestId): string
}

export function mirrorRedisKeys(namespace: string, replica: ReplicaId): MirrorKeys {
  // escaped, because a hash tag ends at the first closing brace
  const prefix = `reprise:${namespace}:mirror:{${encodeURIComponent(replica)}}`
  const bucketPrefix = `${prefix}:sent:`
  return {
    head: `${prefix}:head`,
    feed: `${prefix}:feed`,
    buckets: `${prefix}:buckets`,
    reuse: `${prefix}:reuse`,
    bucketPrefix,
    bucket: (number) => `${bucketPrefix}${number}`,
    tokens: (request) => `${prefix}:tokens:${request}`,
  }
}
