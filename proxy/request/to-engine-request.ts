import { grantedWish } from '#engine-adapters/any-position-reuse.ts'
import type { RequestTags } from '#engine-adapters/engine-adapter.ts'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RequestId } from '#index/context-block.ts'
import { withEngineCredentials } from '../access/engine-credentials.ts'
import { cacheSaltOf } from '../access/tenant.ts'
import type { Call, Exchange, RoutedCall } from '../call/call.ts'
import { toStream } from '../http/bounds/whole-body.ts'
import { forwardedFor, requestHeaders } from '../http/forwarded-headers.ts'
import { behindByteOrderMark } from '../http/receive/read-received.ts'
import { type EngineWish, writeWish } from '../prompt/body/engine-wish.ts'
import { memberSplices, type PromptBody, writeBody } from '../prompt/body/prompt-body.ts'
import type { Decision } from '../reuse/decision.ts'
import { findQuestionInFront } from './borders/find-question-in-front.ts'

/** Whether the client gets keep-alive comments while its request runs. */
export function isKeptAlive({ settings, isStream }: Pick<Call, 'settings' | 'isStream'>): boolean {
  return isStream && settings.keepAliveSeconds > 0
}

/**
 * Builds the request for the engine: the decision and the tags, as bytes and headers. `borders`: where the engine is to
 * keep checkpoints, in tokens.
 */
export function toEngineRequest(
  { incoming, telemetry }: Exchange,
  { api, caller, content: { body, received, members }, settings, isStream }: Call,
  routed: RoutedCall,
  request: RequestId,
  borders: readonly number[] = [],
): EngineRequest {
  const { replica, decision } = routed
  const salt = cacheSaltOf(caller.tenant, members.cache_salt, settings.tenants.salt_secret)
  const tags = replica.adapter.tagRequest(request, salt, members)
  const wishes = wishesOf(routed, api, { isTrusted: caller.isTrusted === true, borders })
  const parts = received.whole?.write(tags.members, wishes) ?? [
    bytesToSend(body, received.prompt, decision.splices, tags.members, wishes),
  ]
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, {
    keepsClientKey: settings.keepsClientKey,
    apiKey: replica.apiKey,
  })
  return {
    path: incoming.url!,
    method: 'POST',
    headers: requestHeaders(rawHeaders, {
      'content-length': String(parts.reduce((sum, { length }) => sum + length, 0)),
      ...tags.headers,
      ...forwardedFor(incoming),
      ...telemetry.headers,
      // an encoded answer cannot be rewritten, and cannot contain our comments
      ...(decision.citations.length > 0 || isKeptAlive({ settings, isStream })
        ? { 'accept-encoding': 'identity' }
        : {}),
    }),
    body: received.whole ? toStream(parts) : parts[0]!,
  }
}

/** What a request says to this replica's plugins besides what its client wishes. */
interface Told {
  /** a trusted gateway may have named another user */
  readonly isTrusted: boolean
  /** where checkpoints are to be kept, in tokens */
  readonly borders: readonly number[]
}

/** Returns what the request asks of this replica's plugins, and tells them. */
function wishesOf(routed: RoutedCall, api: Call['api'], told: Told): EngineWish[] {
  const { pages } = routed.decision.options
  const { adapter } = routed.replica
  const wish = wishForReuse(routed, api, told)
  // harmless for an engine that could select pages but does not: nothing there reads the member
  const member = pages === undefined ? undefined : adapter.pagesMember(api)
  if (member === undefined) return wish ? [wish] : []
  if (wish?.member === member) return [{ ...wish, also: { reprise_pages: pages } }]
  return [...(wish ? [wish] : []), { member, own: 'reprise_pages', value: pages }]
}

function wishForReuse(
  { replica, decision, user }: RoutedCall,
  api: Call['api'],
  { isTrusted, borders }: Told,
): EngineWish | undefined {
  const { reuse: offer, adapter, checkpoints } = replica
  const { reuse } = decision.options
  const own = user && { user: user.name }
  const value = {
    ...(offer && reuse !== undefined ? { reuse: grantedWish(offer, reuse) } : {}),
    ...questionFor(replica, decision),
    ...(borders.length > 0 ? { borders, key: checkpoints?.key } : {}),
    ...(isTrusted ? own : {}),
  }
  const set = isTrusted ? undefined : own
  const member = set || Object.keys(value).length > 0 ? adapter.reuseMember(api) : undefined
  return member === undefined ? undefined : { member, own: 'reprise', value, ...(set ? { set } : {}) }
}

/** Where the question stands, for an engine that reuses at any position and would take something else for it. */
function questionFor({ reuse, mirror }: RoutedCall['replica'], decision: Decision): { question?: readonly number[] } {
  if (!reuse?.readsQuestion || decision.options.reuse === 'off') return {}
  const question = findQuestionInFront(decision, (characters) => mirror.estimateTokens(characters))
  return question ? { question } : {}
}

/** Returns the body as received, unless something in it is changed or set. */
function bytesToSend(
  body: Buffer,
  prompt: PromptBody | undefined,
  splices: Decision['splices'],
  tags: RequestTags['members'],
  wishes: readonly EngineWish[],
): Buffer {
  if (!prompt) return body
  const written = wishes.map((wish) => writeWish(prompt, wish))
  const members = memberSplices(prompt, Object.assign({ ...tags }, ...written.map((one) => one.members)))
  if (members.length === 0 && written.length === 0 && !splices) return body
  const splicesOfAll = [...members, ...written.flatMap((one) => one.splices), ...(splices ?? [])]
  return behindByteOrderMark(body, writeBody(prompt, splicesOfAll))
}
