import { percentile } from '#tools/replay/report/replay-report.ts'

/** Median and tail of measured durations. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** Nearest-rank percentiles of at least one duration. */
export function toPercentiles(durations: readonly number[]): Percentiles {
  return { p50: percentile(durations, 0.5), p99: percentile(durations, 0.99) }
}
