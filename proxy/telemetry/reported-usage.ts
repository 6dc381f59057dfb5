import type { Usage } from '#engine-adapters/read-usage.ts'

export type ReportedUsage = Pick<Usage, 'promptTokens' | 'cachedTokens'> & Partial<Usage>

/** Returns the tokens that were found nowhere; only for engines that reuse KV at any position. */
export function coldTokens(usage: ReportedUsage | undefined): number | undefined {
  if (usage?.reusedTokens === undefined || usage.cachedTokens === undefined) return undefined
  return usage.promptTokens - usage.cachedTokens - usage.reusedTokens - (usage.recomputedTokens ?? 0)
}
