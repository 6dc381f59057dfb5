import type { PolicySettings } from './policies/create-online-policy.ts'
import type { PolicyName } from './policies/policy-names.ts'
import type { PromptFrame } from './run/prompt-layout.ts'
import type { ScheduleName } from './run/schedule-window.ts'

export const cacheKinds = ['paged', 'radix'] as const
type CacheKind = (typeof cacheKinds)[number]
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
  answerTokens: 0,
}

/** The options of a replay before its trace is read: without a capacity, that of the recorded engine counts. */
export type GivenReplayOptions = Omit<ReplayOptions, 'capacityTokens'> & Partial<Pick<ReplayOptions, 'capacityTokens'>>

/** The options of a replay. */
export interface ReplayOptions extends ReplaySettings {
  readonly policy: readonly PolicyName[]
  readonly topK?: number
  readonly limit?: number
  readonly json?: boolean
  readonly orders?: string
  readonly plot?: string
  readonly plotAgainst: 'capacity' | 'window'
}
