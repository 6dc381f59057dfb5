import type { PolicyName } from './policies/policy.ts'
import type { PromptFrame } from './run/prompt-layout.ts'

export const modes = ['online', 'offline'] as const
export type ReplayMode = (typeof modes)[number]

/** The settings that determine the results of a replay. */
export interface ReplaySettings extends PromptFrame {
  readonly mode: ReplayMode
  /** may be Infinity */
  readonly capacityTokens: number
  readonly pageTokens: number
}

export const replayDefaults: ReplaySettings = {
  mode: 'online',
  capacityTokens: Number.POSITIVE_INFINITY,
  pageTokens: 16,
  systemTokens: 200,
  questionTokens: 30,
}

/** The options of a replay before its trace is read: without a capacity, that of the recorded engine counts. */
export type GivenReplayOptions = Omit<ReplayOptions, 'capacityTokens'> & Partial<Pick<ReplayOptions, 'capacityTokens'>>

export interface ReplayOptions extends ReplaySettings {
  readonly policy: readonly PolicyName[]
  readonly limit?: number
  readonly json?: boolean
  readonly orders?: string
  readonly plot?: string
}
