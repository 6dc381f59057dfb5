import { type HotnessFormula, parseFormula } from '../../hotness/hotness-formula.ts'

/** How an engine chooses what it evicts by hotness (HotPrefix, Algorithm 1). */
export interface HotPolicy {
  /** the leaf goes of which it is lowest */
  readonly priority: HotnessFormula
  /** the clock of what was just asked for */
  readonly maxAge: number
  /** after so many requests all clocks fall by one */
  readonly requestsPerAge: number
}

/** A policy as an engine names it. */
export interface EvictionReport {
  readonly policy: string
  readonly priority?: string
  readonly max_age?: number
  readonly requests_per_age?: number
}

/** Undefined if it is none by hotness, or one that is not known here: then the least recently used goes. */
export function toHotPolicy(report: EvictionReport | null | undefined): HotPolicy | undefined {
  const { policy, priority, max_age: maxAge, requests_per_age: requestsPerAge } = report ?? {}
  if (policy !== 'hotprefix' || !priority || !maxAge || !requestsPerAge) return undefined
  try {
    return { priority: parseFormula(priority), maxAge, requestsPerAge }
  } catch {
    return undefined
  }
}
