import type { ReplicaId, RequestId } from '#index/context-block.ts'

/** Where the mirror of one replica is kept: all of it in one slot of a cluster. */
export interface MirrorKeys {
  /** what is known of the replica as a whole, and the fence */
  readonly head: string
  /** what proxies have written lately, in order */
  readonly feed: string
  /** the numbers of all buckets */
  readonly buckets: string
  /** what its engine says of reuse at any position */
  readonly reuse: string
  /** Requests that were sent at about the same time. */
  bucket(number: number): string
  /** The tokens of a request's prompt. */
  tokens(request: RequestId): string
}

/** The keys of a replica's mirror. */
export function mirrorRedisKeys(namespace: string, replica: ReplicaId): MirrorKeys {
  // a tag ends at the first closing brace
  const prefix = `reprise:${namespace}:mirror:{${encodeURIComponent(replica)}}`
  return {
    head: `${prefix}:head`,
    feed: `${prefix}:feed`,
    buckets: `${prefix}:buckets`,
    reuse: `${prefix}:reuse`,
    bucket: (number) => `${prefix}:sent:${number}`,
    tokens: (request) => `${prefix}:tokens:${request}`,
  }
}
