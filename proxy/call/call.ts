import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from '../access/tenancy.ts'
import type { Settings } from '../config/config.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import type { PermitLists } from '../prompt/layout.ts'
import type { Replica } from '../replicas/replica.ts'
import type { RequestOptions } from '../request-options.ts'
import type { Decision } from '../reuse/decision.ts'
import type { CallContent } from './call-content.ts'

/** A received request: its caller, what it asks for, and how it is to be handled. */
export interface Call {
  readonly api: PromptApi
  readonly caller: Caller
  readonly settings: Settings
  readonly conversation: string | undefined
  /** as configured, overridden by the request's header */
  readonly options: RequestOptions
  readonly priority: number
  /** the latest time to send it, on the pipeline's clock */
  readonly deadline: number
  readonly content: CallContent
  /** handling it takes so long that other requests should be served first */
  readonly isHeavy: boolean
  /** time limit for the decision; undefined: none, since it will be short */
  readonly budgetMilliseconds: number | undefined
  /** templates whose lists need not be found anew */
  readonly known: KnownTemplates
  /** says which lists may be moved */
  readonly permit: PermitLists | undefined
  readonly model: string | undefined
  /** the name that the model stands in for */
  readonly alias: string | undefined
  readonly isStream: boolean
  /** the engine refused it in its rewritten form: from now on it goes as received */
  readonly isRefused?: boolean | undefined
}

/** A request with the replica it goes to and the decision on how to send it. */
export interface RoutedCall {
  readonly replica: Replica
  readonly decision: Decision
  /** the `rid` in the body, which SGLang uses as the request id */
  readonly rid: unknown
}
