import { createHash } from 'node:crypto'
import { membersOf } from '../http/receive/read-received.ts'
import type { Call } from './call.ts'

/**
 * Identifies who may reuse what a request has computed, and may be told that it is computed: its tenant, and of these
 * whoever sends the same `cache_salt` to the same model with the same adapter. A digest, whatever a client writes there.
 */
export function sharerOf({ caller, content, model }: Pick<Call, 'caller' | 'content' | 'model'>): string {
  const { cache_salt, lora_path } = membersOf(content.received)
  const names = JSON.stringify([caller.tenant, cache_salt, model, lora_path])
  return createHash('sha256').update(names).digest('base64url')
}
