import type { TurnKey } from '#index/conversation-store.ts'

/** Where a turn is kept: all turns of a conversation in one slot of a cluster. */
export function turnRedisKey(namespace: string, turn: TurnKey): string {
  const [conversation = '', own] = turn.split('.')
  return `reprise:${namespace}:turn:{${conversation}}${own === undefined ? '' : `:${own}`}`
}

/** Keys of one proxy that no other writes, spread over the slots of a cluster. */
export function markRedisKeys(namespace: string, proxy: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `reprise:${namespace}:mark:{${proxy}.${i}}`)
}

/** Where it is kept how often blocks were asked for: of all proxies together, and what was heard of one of them last. */
export function hotBlocksRedisKeys(namespace: string, proxy: string): { counts: string; writer: string } {
  const prefix = `reprise:${namespace}:hot:{blocks}`
  return { counts: `${prefix}:counts`, writer: `${prefix}:writer:${proxy}` }
}

/** Where proxies tell each other of known chunks. */
export function chunksRedisKey(namespace: string): string {
  return `reprise:${namespace}:chunks:{chunks}`
}
