import type { WorkLimits } from './bounds/work-limits.ts'
import type { HygieneSettings } from './hygiene/apply-hygiene.ts'
import type { VolatileFields } from './prompt/cut-ranks.ts'
import type { Wording } from './prompt/wording.ts'
import type { RequestOptions } from './request-options.ts'
import type { DeclaredTemplate } from './templates/declared-templates.ts'

/**
 * What is done to prompts (docs/templates.md). `auto`: what is stated is rewritten, and lists of templates that words,
 * traffic and the model all permit; `ask`: what is stated, and templates that a person confirmed; `on`: what no word
 * forbids; `shadow`: nothing, only computed; `off`: nothing.
 */
export type Mode = 'auto' | 'ask' | 'on' | 'shadow' | 'off'

/** Settings that can change while the proxy runs. */
export interface Settings {
  readonly mode: Mode
  /** defaults for requests that do not set them */
  readonly options: RequestOptions
  readonly wording: Wording
  /** how to treat fields that only rank blocks */
  readonly volatileFields: VolatileFields
  readonly bodyLimit: number
  /** time in which more of a body must arrive; 0: any */
  readonly bodyStallMilliseconds: number
  /** how much of one request is rewritten */
  readonly workLimits: WorkLimits
  /** how long a request may wait before it is sent */
  readonly maxWaitMilliseconds: number
  /** silence after which a stream gets a comment; 0: never */
  readonly keepAliveMilliseconds: number
  /** whether answers have `x-reprise-` headers */
  readonly hasHeaders: boolean
  readonly hygiene: HygieneSettings
  /** text that applications put between documents and that no engine sees; empty: none */
  readonly separator: string
  /** how applications write lists of blocks */
  readonly templates: readonly DeclaredTemplate[]
  /** whether borders that no rule knows are learnt from traffic */
  readonly learnsTemplates: boolean
  /** whether inputs of embeddings and reranks are learned */
  readonly learnsChunks: boolean
  /** whether the log may hold text of prompts */
  readonly logPrompts: boolean
  /** whether the first words of blocks are kept for the control plane */
  readonly keepsWords: boolean
  /** whether each request has a line in the log */
  readonly logRequests: boolean
  /** paths of the engine that bearers of a key may use besides inference */
  readonly allowedPaths: readonly string[]
  /** whether the caller's API key is meant for us and must not reach the engine */
  readonly keepsClientKey: boolean
  /** the secret from which the cache salts of tenants are derived */
  readonly saltSecret: string | undefined
}
