import type { Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from './tenancy.ts'
import { keyedDigest } from './tenant.ts'

/**
 * The user whom an engine's plugin is told, so that texts which one user writes in front of shared documents do not
 * reach the answers of others: the end user whom the request names, else its API key, else its tenant. It is opaque, and
 * no user of another tenant has the same. With a secret, no client can compute it.
 */
export function userOf({ tenant, key }: Caller, api: PromptApi, members: Json, secret?: string): string {
  const named = namedUser(api, members)
  const [kind, name] = named !== undefined ? ['name', named] : key ? ['key', key.id] : ['tenant', '']
  // not what a cache salt is made of
  const parts = `user ${kind} ${tenant.length}:${tenant}${name}`
  return keyedDigest(parts, secret).slice(0, 22)
}

/** OpenAI's `safety_identifier`, or `user`, which it replaces; Anthropic's `metadata.user_id`. */
function namedUser(api: PromptApi, { safety_identifier, user, metadata }: Json): string | undefined {
  const own = api === 'messages' && metadata !== null && typeof metadata === 'object' ? metadata : {}
  const named = api === 'messages' ? [(own as Json).user_id] : [safety_identifier, user]
  return named.find((one): one is string => typeof one === 'string' && one !== '')
}
