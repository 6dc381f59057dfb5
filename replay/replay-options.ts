import type { CacheKind } from './cache/create-cache.ts'
import type { EvictionName } from './cache/eviction/eviction-names.ts'
import type { PolicySettings } from './policies/create-online-policy.ts'
import type { PolicyName } from './policies/policy-names.ts'
import type { PromptFrame } from './run/prompt-layout.ts'
import type { ScheduleName } from './run/schedule-window.ts'

export const modes = ['online', 'offline'] as const
export type ReplayMode = (typeof modes)[number]

/** The settings that determine the results of a replay. */
export interface ReplaySettings extends PromptFrame, PolicySettings {
  readonly mode: ReplayMode
  readonly cache: CacheKind
  /** may be Infinity */
  readonly capacityTokens: number
  readonly pageTokens: number
  readonly window: number
  /** which leaf is evicted if there is no room; default: lru */
  readonly eviction?: EvictionName
  /** capacity of the host memory behind the cache; 0: none */
  readonly hostTokens: number
  /** minimum number of requests for admission to the host */
  readonly admission: number
  /** bandwidth between the device and its host, in gigabytes per second */
  readonly pcieGbps: number
  /**
   * length of every answer, which is decoded; cached only after prompts that get the replay's system prompt and
   * question
   */
  readonly answerTokens: number
  /** undefined: the default of each policy */
  readonly schedule?: ScheduleName
}

/** The default settings. */
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

/** The options of a replay before its trace is read: without a capacity, that of the recorded engine counts. */
export type GivenReplayOptions = Omit<ReplayOptions, 'capacityTokens'> & Partial<Pick<ReplayOptions, 'capacityTokens'>>

/** The options of a replay. */
export interface ReplayOptions extends ReplaySettings {
  readonly policy: readonly PolicyName[]
  /** every policy runs with each of these */
  readonly evictions?: readonly EvictionName[]
  readonly topK?: number
  readonly limit?: number
  readonly json?: boolean
  readonly orders?: string
  readonly plot?: string
  readonly plotAgainst: 'capacity' | 'window'
}
