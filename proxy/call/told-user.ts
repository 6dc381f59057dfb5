import { isObject } from '#engine-adapters/json-object.ts'
import { userOf } from '../access/user.ts'
import { membersOf } from '../http/receive/read-received.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Call } from './call.ts'

/**
 * Returns whom an engine takes a request for when it decides what to reuse. Returns undefined if it does not ask, or if
 * the request says that it preprocesses: what that computes is everybody's. Whether its key is right, only the engine
 * knows.
 */
export function toldUser(
  { api, caller, content, settings }: Pick<Call, 'api' | 'caller' | 'content' | 'settings'>,
  { adapter, reuse }: Pick<Replica, 'adapter' | 'reuse'>,
): string | undefined {
  if (!reuse?.asksForUser) return undefined
  const members = membersOf(content.received)
  const member = adapter.reuseMember(api)
  // it cannot be told: all of a salt are one user
  if (member === undefined) return ''
  const passed = members[member]
  const own = isObject(passed) && isObject(passed.reprise) ? passed.reprise : {}
  if (typeof own.preprocess === 'string') return undefined
  if (caller.isTrusted && typeof own.user === 'string') return own.user
  return userOf(caller, api, members, settings.tenants.salt_secret)
}
