import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from '../access/tenancy.ts'
import type { Settings } from '../config/config.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Decision, DecisionInput } from '../reuse/decision.ts'
import type { CallContent } from './call-content.ts'

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

/** A request with the replica it goes to and the decision on how to send it. */
export interface RoutedCall {
  readonly replica: Replica
  readonly decision: Decision
  /** the `rid` in the body, which SGLang uses as the request id */
  readonly rid: unknown
}
