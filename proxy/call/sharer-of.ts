import { membersOf } from '../receive/read-received.ts'
import type { Call } from './call.ts'

/**
 * Identifies who may reuse what a request has computed, and may be told that it is computed: its tenant, and of these
 * whoever sends the same `cache_salt` to the same model.
 */
export function sharerOf({ caller, content, model }: Pick<Call, 'caller' | 'content' | 'model'>): string {
  return JSON.stringify([caller.tenant, membersOf(content.received).cache_salt, model])
}
