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

/** Where a proxy writes how often blocks were asked for there, and which proxies do, with their epochs: in one slot. */
export function hotBlocksRedisKeys(namespace: string, epoch = 0, proxy = ''): { proxies: string; counts: string } {
  const prefix = `reprise:${namespace}:hot:{blocks}`
  return { proxies: `${prefix}:proxies`, counts: `${prefix}:${epoch}:${proxy}` }
}

/** Where proxies tell each other of known chunks. */
export function chunksRedisKey(namespace: string): string {
  return `reprise:${namespace}:chunks:{chunks}`
}
