import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Caller } from '../../access/tenancy.ts'
import type { BodyShare } from '../../bounds/body-memory.ts'
import type { CertainLists } from '../../chunks/certain-lists.ts'
import type { PatternLists } from '../../prompt/find-contexts.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { Decision } from '../../reuse/decision.ts'
import type { Settings } from '../../settings.ts'
import type { Received } from './read-received.ts'
import type { RequestOptions } from './request-options.ts'

/** A request as it was received: whose it is, what it asks for, and how. */
export interface Call {
  readonly api: PromptApi
  readonly caller: Caller
  readonly settings: Settings
  readonly conversation: string | undefined
  /** as configured, and as the header has them */
  readonly options: RequestOptions
  readonly priority: number
  /** when it is too late to send it, on the pipeline's clock */
  readonly deadline: number
  /** none, once it is let go */
  body: Buffer
  /** what the body takes of the memory for all bodies */
  readonly share: BodyShare
  received: Received
  /** so long it takes to read that others are to be served first */
  readonly isHeavy: boolean
  /** for deciding about it; undefined: as long as it takes, which is not long */
  readonly budgetMilliseconds: number | undefined
  readonly patternLists: PatternLists | undefined
  readonly certain: CertainLists
  readonly model: string | undefined
  readonly isStream: boolean
}

/** A request with the replica it goes to, and how it is sent there. */
export interface RoutedCall {
  readonly replica: Replica
  readonly decision: Decision
  /** the id in the body, which SGLang takes for the request's */
  readonly rid: unknown
}
