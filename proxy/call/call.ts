import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { type Caller, keyedDigest } from '../access/tenancy.ts'
import type { CertainLists } from '../chunks/certain-lists.ts'
import type { Settings } from '../config/config.ts'
import type { BodyShare } from '../http/bounds/body-memory.ts'
import type { ClientLeft } from '../http/bounds/client-left.ts'
import { type Received, unread } from '../http/receive/read-received.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Decision, DecisionInput } from '../reuse/decision.ts'
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts'

/**
 * The two ends of a client's request. `clientLeft` aborts if the client leaves before its answer is complete, and with
 * the ProxyError to answer if its body is given up as too slow.
 */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly clientLeft: ClientLeft
  readonly telemetry: RequestTelemetry
}

/** A received request: its caller, what it asks for, and how it is to be handled. */
export interface Call
  extends Pick<DecisionInput, 'conversation' | 'options' | 'budgetMilliseconds' | 'permit' | 'isRefused'> {
  readonly api: PromptApi
  readonly caller: Caller
  readonly settings: Settings
  readonly priority: number
  /** the latest time to send it, on the pipeline's clock */
  readonly deadline: number
  readonly content: CallContent
  /** handling it takes so long that other requests should be served first */
  readonly isHeavy: boolean
  /** templates whose lists need not be found anew */
  readonly known: KnownTemplates
  readonly model: string | undefined
  /** the name that the model stands in for */
  readonly alias: string | undefined
  readonly isStream: boolean
}

/** Whom an engine takes a request for when it decides what to reuse. */
export interface EngineUser {
  readonly name: string
  /** whose what it computes is; undefined: everybody's */
  readonly owner: string | undefined
}

/** A request with the replica it goes to and the decision on how to send it. */
export interface RoutedCall {
  readonly replica: Replica
  readonly decision: Decision
  /** who may reuse what it computes (`sharerOf`) */
  readonly sharer: string
  /** whom the replica takes it for; undefined if that does not ask */
  readonly user: EngineUser | undefined
}

export function toDecisionInput(call: Call): DecisionInput {
  const { received, certain } = call.content
  const { mode, annotations: wording } = call.settings
  return { ...call, received, certain, mode, wording, tenant: call.caller.tenant }
}

/**
 * Identifies who may reuse what a request has computed, and may be told that it is computed: its tenant, and of these
 * whoever sends the same `cache_salt` to the same model with the same adapter. A digest, whatever a client writes there.
 */
export function sharerOf({ caller, content, model }: Pick<Call, 'caller' | 'content' | 'model'>): string {
  const { cache_salt, lora_path } = content.members
  return hash('sha256', JSON.stringify([caller.tenant, cache_salt, model, lora_path]), 'base64url')
}

const longestModel = 200

/** Names the model that a request asks, with its adapter; empty if it names none. What is long is cut, with a digest of all. */
export function modelNameOf({ members: { model, lora_path } }: Pick<CallContent, 'members'>): string {
  const adapter = Array.isArray(lora_path) ? JSON.stringify(lora_path) : lora_path
  const name = [model, adapter].filter((one) => typeof one === 'string').join(' ')
  return name.length <= longestModel ? name : `${name.slice(0, longestModel)}… ${hash('sha256', name, 'base64url')}`
}

export type ReadContent = Readonly<Pick<CallContent, 'received' | 'certain'>>

/**
 * The body of a request and all that was read from it: the one part of a `Call` that changes. It is released once the
 * body will not be sent again, because answers take long and many run at once.
 */
export class CallContent {
  /** empty once released */
  body: Buffer
  /** without a prompt once released */
  received: Received
  certain: CertainLists
  readonly #share: BodyShare

  constructor(body: Buffer, share: BodyShare, { received, certain }: ReadContent) {
    this.body = body
    this.received = received
    this.certain = certain
    this.#share = share
  }

  /** the top-level members of the body, as far as they were read */
  get members(): Json {
    return this.received.prompt?.members ?? this.received.whole?.members ?? {}
  }

  /** Takes what was read from the same body in another way, or from one that names another model. */
  readAgain({ received, certain }: ReadContent, body: Buffer = this.body): void {
    this.body = body
    this.received = received
    this.certain = certain
  }

  /** Drops the body and its texts, and gives back the memory taken for it. Further calls have no effect. */
  release(): void {
    this.body = Buffer.alloc(0)
    this.received = { ...unread, skipped: undefined }
    this.certain.release()
    this.#share.release()
  }
}

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
