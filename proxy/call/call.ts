import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from '../access/tenancy.ts'
import type { Settings } from '../config/config.ts'
import type { ClientLeft } from '../http/bounds/client-left.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Decision, DecisionInput } from '../reuse/decision.ts'
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts'
import type { CallContent } from './call-content.ts'

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

/** Extracts from a call what `decide` needs. */
export function toDecisionInput(call: Call): DecisionInput {
  const { content, settings, caller, conversation, options, known, permit, budgetMilliseconds, isRefused } = call
  return {
    received: content.received,
    certain: content.certain,
    mode: settings.mode,
    wording: settings.wording,
    tenant: caller.tenant,
    conversation,
    options,
    known,
    permit,
    budgetMilliseconds,
    isRefused,
  }
}

/**
 * Identifies who may reuse what a request has computed, and may be told that it is computed: its tenant, and of these
 * whoever sends the same `cache_salt` to the same model with the same adapter. A digest, whatever a client writes there.
 */
export function sharerOf({ caller, content, model }: Pick<Call, 'caller' | 'content' | 'model'>): string {
  const { cache_salt, lora_path } = content.members
  return hash('sha256', JSON.stringify([caller.tenant, cache_salt, model, lora_path]), 'base64url')
}
