import { type HotnessFormula, parseFormula } from '../../hotness/hotness-formula.ts'

/** How an engine evicts by hotness (HotPrefix, Algorithm 1). */
export interface HotPolicy {
  /** the leaf with the lowest priority is evicted */
  readonly priority: HotnessFormula
  /** clock value of a prefix that was just requested */
  readonly maxAge: number
  /** after this many requests all clocks fall by one */
  readonly requestsPerAge: number
}

/** A policy as an engine reports it. */
export interface EvictionReport {
  readonly policy: string
  readonly priority?: string
  readonly max_age?: number
  readonly requests_per_age?: number
}

/** Returns undefined if the policy is not by hotness or not understood here. Then LRU eviction is assumed. */
export function toHotPolicy(report: EvictionReport | null | undefined): HotPolicy | undefined {
  const { policy, priority, max_age: maxAge, requests_per_age: requestsPerAge } = report ?? {}
  if (policy !== 'hotprefix' || !priority || !maxAge || !requestsPerAge) return undefined
  try {
    return { priority: parseFormula(priority), maxAge, requestsPerAge }
  } catch {
    return undefined
  }
}
