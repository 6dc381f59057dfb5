import type { PageUsage } from '#engine-adapters/page-usage.ts'

/** The usage that the engine reports. */
export interface ReportedUsage {
  readonly promptTokens: number
  readonly cachedTokens: number | undefined
  /** reused from another position unchanged; undefined if the engine does no such thing */
  readonly reusedTokens?: number | undefined
  /** found at another position and recomputed, if known */
  readonly recomputedTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly pages?: PageUsage | undefined
}

/** Returns the tokens that were found nowhere; only for engines that reuse KV at any position. */
export function coldTokens(usage: ReportedUsage | undefined): number | undefined {
  if (usage?.reusedTokens === undefined || usage.cachedTokens === undefined) return undefined
  return usage.promptTokens - usage.cachedTokens - usage.reusedTokens - (usage.recomputedTokens ?? 0)
}
