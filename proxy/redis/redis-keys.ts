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
