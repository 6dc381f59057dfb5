/** Median and tail of measured durations. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** Nearest-rank percentiles of at least one duration. */
export function toPercentiles(durations: readonly number[]): Percentiles {
  const sorted = Float64Array.from(durations).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!
  return { p50: at(0.5), p99: at(0.99) }
}
