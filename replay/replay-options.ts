import type { CacheKind } from './cache/create-cache.ts'
import type { EvictionName } from './cache/eviction/eviction-names.ts'
import type { PolicySettings } from './policies/create-online-policy.ts'
import type { PolicyName } from './policies/policy-names.ts'
import type { PromptFrame } from './run/prompt-layout.ts'
import type { ScheduleName } from './run/schedule-window.ts'

export const modes = ['online', 'offline'] as const
export type ReplayMode = (typeof modes)[number]

/** What decides the figures of a replay. */
export interface ReplaySettings extends PromptFrame, PolicySettings {
  readonly mode: ReplayMode
  readonly cache: CacheKind
  /** may be Infinity */
  readonly capacityTokens: number
  readonly pageTokens: number
  readonly window: number
  /** which leaf goes where there is no room; default: lru */
  readonly eviction?: EvictionName
  /** of host memory behind the cache; 0: none */
  readonly hostTokens: number
  /** what was asked for less often is not moved to the host */
  readonly admission: number
  /** between the device and its host, in gigabytes a second */
  readonly pcieGbps: number
  /** of every answer: decoded, and cached behind its prompt where that is of blocks */
  readonly answerTokens: number
  /** undefined: each policy's own */
  readonly schedule?: ScheduleName
}

/** What is taken if nothing else is asked for. */
export const replayDefaults: ReplaySettings = {
  mode: 'online',
  cache: 'paged',
  capacityTokens: Number.POSITIVE_INFINITY,
  pageTokens: 16,
  systemTokens: 200,
  questionTokens: 30,
  window: 1,
  hostTokens: 0,
  admission: 10,
  pcieGbps: 25,
  answerTokens: 0,
}

/** A replay as the command line asks for it. */
export interface ReplayOptions extends ReplaySettings {
  readonly policy: readonly PolicyName[]
  /** each policy is run with each of them */
  readonly evictions?: readonly EvictionName[]
  readonly topK?: number
  readonly limit?: number
  readonly json?: boolean
  readonly orders?: string
  readonly plot?: string
  readonly plotAgainst: 'capacity' | 'window'
}
