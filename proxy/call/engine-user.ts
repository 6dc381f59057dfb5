import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from '../access/tenancy.ts'
import { keyedDigest } from '../access/tenant.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Call, EngineUser } from './call.ts'

/**
 * Returns whom an engine takes a request for: whoever sent it, or whom a trusted gateway names in it; undefined if it
 * does not ask. What a request computes that says that it preprocesses is everybody's: whether its key is right, only
 * the engine knows.
 */
export function engineUserOf(
  { api, caller, content, settings }: Pick<Call, 'api' | 'caller' | 'content' | 'settings'>,
  { adapter, reuse }: Pick<Replica, 'adapter' | 'reuse'>,
): EngineUser | undefined {
  if (!reuse?.users) return undefined
  const { members } = content
  const member = adapter.reuseMember(api)
  // it cannot be told: all of a salt are one user
  if (member === undefined) return { name: '', owner: '' }
  const passed = members[member]
  const own = isObject(passed) && isObject(passed.reprise) ? passed.reprise : {}
  const isNamed = caller.isTrusted === true && typeof own.user === 'string'
  const name = isNamed ? (own.user as string) : userOf(caller, api, members, settings.tenants.salt_secret)
  return { name, owner: typeof own.preprocess === 'string' ? undefined : name }
}

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
