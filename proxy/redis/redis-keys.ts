import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { TurnKey } from '#index/conversation-store.ts'

/** Returns the key of a turn. All turns of a conversation are in one slot of a cluster. */
export function turnRedisKey(namespace: string, turn: TurnKey): string {
  const [conversation = '', own] = turn.split('.')
  return `reprise:${namespace}:turn:{${conversation}}${own === undefined ? '' : `:${own}`}`
}

/** Returns keys that only one proxy writes, spread over the slots of a cluster. */
export function markRedisKeys(namespace: string, proxy: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `reprise:${namespace}:mark:{${proxy}.${i}}`)
}

/** Returns the key of the log of counts of blocks. */
export function hotBlocksRedisKey(namespace: string): string {
  return `reprise:${namespace}:hot:{blocks}:log:1`
}

/** Returns the keys of templates: what people said, how many requests each has seen, and each by id. All in one slot. */
export function templateRedisKeys(namespace: string): { said: string; counts: string; record(id: string): string } {
  const prefix = `reprise:${namespace}:templates:{templates}`
  // evidence of another version is not read: proxies of both share a Redis during an update
  return { said: `${prefix}:said`, counts: `${prefix}:counts:4`, record: (id) => `${prefix}:of:${id}:4` }
}

/** Returns the key of the feed of known chunks. */
export function chunksRedisKey(namespace: string): string {
  return `reprise:${namespace}:chunks:{chunks}`
}

/** Returns the key of the feed of what API keys use. */
export function limitsRedisKey(namespace: string): string {
  return `reprise:${namespace}:limits:{limits}`
}

/** The keys of one replica's mirror, all in one slot of a cluster. */
export interface MirrorKeys {
  /** what all proxies tell of it, in order; proxies of another version have another */
  readonly log: string
  /** The key for the tokens of a request's prompt. */
  tokens(request: RequestId): string
}

/** Returns the keys of a replica's mirror. */
export function mirrorRedisKeys(namespace: string, replica: ReplicaId): MirrorKeys {
  // escaped, because a hash tag ends at the first closing brace
  const prefix = `reprise:${namespace}:mirror:{${encodeURIComponent(replica)}}`
  return { log: `${prefix}:log:4`, tokens: (request) => `${prefix}:tokens:2:${request}` }
}
