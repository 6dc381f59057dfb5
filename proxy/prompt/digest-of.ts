import type { Hash } from 'node:crypto'
import type { ScopeId } from '#index/context-block.ts'

/** The identity of all that a running hash has taken in; it can go on afterwards. */
export function digestOf(hash: Hash): ScopeId {
  return hash.copy().digest('base64url').slice(0, 22) as ScopeId
}
