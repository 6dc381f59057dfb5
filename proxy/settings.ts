import type { WorkLimits } from './bounds/work-limits.ts'
import type { HygieneSettings } from './hygiene/apply-hygiene.ts'
import type { VolatileFields } from './prompt/cut-ranks.ts'
import type { RequestOptions } from './request/call/request-options.ts'
import type { Mode } from './reuse/decision.ts'
import type { Wording } from './reuse/wording.ts'

/** What can change while the proxy runs. */
export interface Settings {
  readonly mode: Mode
  /** for requests that do not say */
  readonly options: RequestOptions
  readonly wording: Wording
  /** blocks are moved only where that saves more than the annotation takes */
  readonly mustPay: boolean
  /** what becomes of fields that only rank blocks */
  readonly volatileFields: VolatileFields
  readonly bodyLimit: number
  /** how much of one request is rewritten */
  readonly workLimits: WorkLimits
  /** how long a request may wait before it is sent */
  readonly maxWaitMilliseconds: number
  /** silence after which a stream gets a comment; 0: never */
  readonly keepAliveMilliseconds: number
  readonly hygiene: HygieneSettings
  /** what applications put between documents, and no engine sees; empty: nothing */
  readonly separator: string
  /** whether inputs of embeddings and reranks are learned, and up to which size of a request */
  readonly learning: { readonly isOn: boolean; readonly bodyBytes: number }
  /** whether the log may hold text of prompts */
  readonly logPrompts: boolean
  /** whether first words of blocks are kept, for the control plane */
  readonly keepsWords: boolean
  /** whether each request has a line in the log */
  readonly logRequests: boolean
  /** paths of the engine that bearers of a key may use besides inference */
  readonly allowedPaths: readonly string[]
  /** whether the caller's API key was meant for us and is not for the engine */
  readonly keepsClientKey: boolean
  /** behind the cache salts of tenants */
  readonly saltSecret: string | undefined
}
