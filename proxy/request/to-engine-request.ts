import { grantedWish } from '#engine-adapters/any-position-reuse.ts'
import type { RequestTags } from '#engine-adapters/engine-adapter.ts'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RequestId } from '#index/context-block.ts'
import { withEngineCredentials } from '../access/engine-credentials.ts'
import { cacheSaltOf } from '../access/tenancy.ts'
import type { Call, Exchange, RoutedCall } from '../call/call.ts'
import { toStream } from '../http/bounds/whole-body.ts'
import { forwardedFor, requestHeaders } from '../http/forwarded-headers.ts'
import { behindByteOrderMark } from '../http/receive/read-received.ts'
import { type EngineWish, writeWish } from '../prompt/body/engine-wish.ts'
import { memberSplices, type PromptBody, writeBody } from '../prompt/body/prompt-body.ts'
import type { Decision } from '../reuse/decision.ts'
import type { ReusedContext } from '../reuse/reused-prompt.ts'

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
  call: Call,
  routed: RoutedCall,
  request: RequestId,
  borders: readonly number[] = [],
): EngineRequest {
  const { caller, settings } = call
  const { body, received, members } = call.content
  const { replica, decision } = routed
  const salt = cacheSaltOf(caller.tenant, members.cache_salt, settings.tenants.salt_secret)
  const tags = replica.adapter.tagRequest(request, salt, members)
  const wishes = wishesOf(routed, call, borders)
  const parts = received.whole?.write(tags.members, wishes) ?? [
    bytesToSend(body, received.prompt, decision.splices, tags.members, wishes),
  ]
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, settings, replica)
  return {
    path: incoming.url!,
    method: 'POST',
    headers: requestHeaders(rawHeaders, {
      'content-length': String(parts.reduce((sum, { length }) => sum + length, 0)),
      ...tags.headers,
      ...forwardedFor(incoming),
      ...telemetry.headers,
      // an encoded answer cannot be rewritten, and cannot contain our comments
      ...(decision.citations.length > 0 || isKeptAlive(call) ? { 'accept-encoding': 'identity' } : {}),
    }),
    body: received.whole ? toStream(parts) : parts[0]!,
  }
}

/** Returns what the request asks of this replica's plugins, and tells them besides what its client wishes. */
function wishesOf(
  { replica, decision, user }: RoutedCall,
  { api, caller }: Call,
  borders: readonly number[],
): EngineWish[] {
  const { reuse: offer, adapter, checkpoints } = replica
  const { reuse, pages } = decision.options
  const told = user && { user: user.name }
  // whom a trusted gateway names counts
  const set = caller.isTrusted ? undefined : told
  const value = {
    ...(offer && reuse !== undefined && { reuse: grantedWish(offer, reuse) }),
    ...questionFor(replica, decision),
    ...(borders.length > 0 && { borders, key: checkpoints?.key }),
    ...(!set && told),
  }
  const member = set || Object.keys(value).length > 0 ? adapter.reuseMember(api) : undefined
  // harmless for an engine that could select pages but does not: nothing there reads the member
  const pagesMember = pages === undefined ? undefined : adapter.pagesMember(api)
  const also = pagesMember === member ? { reprise_pages: pages } : undefined
  const wishes: EngineWish[] = []
  if (member !== undefined) wishes.push({ member, own: 'reprise', value, ...(set && { set }), ...(also && { also }) })
  if (pagesMember !== undefined && !also) wishes.push({ member: pagesMember, own: 'reprise_pages', value: pages })
  return wishes
}

/** Where the question stands, for an engine that reuses at any position and would take something else for it. */
function questionFor({ reuse, mirror }: RoutedCall['replica'], decision: Decision): { question?: readonly number[] } {
  if (!reuse?.question || decision.options.reuse === 'off') return {}
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

/** What an engine's plugin reads of a question. */
const questionTokens = 64
/** Measured on five traces, the estimate is off by at most 35 %: up to here, that is less than is read of a question. */
const mostTokensInFront = 160
/** Tags, signs, and what calls for the answer: `</documents>` and `Helpful answer:` ask nothing. */
const ASKS_NOTHING = /^(?:[^\p{L}\p{N}<]|<[^<>]{0,60}>)*(?:(?:\p{L}{1,20} ){0,2}\p{L}{1,20}[:：][^\p{L}\p{N}]*)?$/u
const OPENING_MARKUP = /(?:\s|<[^<>]{1,60}>|[[({])*$/u
/** More text is no markup. */
const longestMarkup = 256

/**
 * Returns where an engine should look for a question that stands in front of the documents, in the same text: its first
 * token and the one behind its last, estimated. Without that, an engine takes the last document for the question if that
 * document is new. Undefined if words stand behind or between the documents, or if the question ends too far from the
 * beginning of the prompt.
 */
export function findQuestionInFront(
  { sent, contexts, worlds }: Pick<Decision, 'sent' | 'contexts' | 'worlds'>,
  estimateTokens: (characters: number) => number,
): readonly [start: number, end: number] | undefined {
  const [prompt, ...others] = sent
  if (!prompt || others.length > 0 || !worlds || worlds.isShadow) return undefined
  const { texts } = worlds
  const lists = contexts.filter(({ found }) => found.slots.at(-1)?.text === texts.length - 1)
  const [first] = lists
  if (!first || lists.some((list, i) => asksBehind(list, lists[i + 1], texts))) return undefined
  const { text, start } = first.found.slots[0]!
  const front = texts[text]!.slice(0, start)
  const markup = OPENING_MARKUP.exec(front.slice(-longestMarkup))![0].length
  if (front.length === markup) return undefined
  const end = estimateTokens(prompt.ends[prompt.prefixes.indexOf(first.scope)]! - markup)
  return end <= mostTokensInFront ? [Math.max(0, end - questionTokens), end] : undefined
}

/** Whether something is asked behind a list, up to the next one of its text. */
function asksBehind({ found }: ReusedContext, next: ReusedContext | undefined, texts: readonly string[]): boolean {
  const { text, end } = found.slots.at(-1)!
  const behind = texts[text]!.slice(end, next?.found.slots[0]?.start)
  return behind.length > longestMarkup || !ASKS_NOTHING.test(behind)
}
