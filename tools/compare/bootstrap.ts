/** A mean and the interval that contains it with 95 % confidence. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
  /** number of values */
  readonly count: number
}

const resamples = 2_000

/**
 * Returns the mean of paired values with a 95 % percentile bootstrap interval over 2,000 resamples; undefined if there
 * are no values. The same values always give the same interval.
 */
export function estimateMean(values: readonly number[]): Estimate | undefined {
  const count = values.length
  if (count === 0) return undefined
  const random = numbers(20_260_101)
  const means = Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < count; i++) sum += values[Math.floor(random() * count)]!
    return sum / count
  }).sort((a, b) => a - b)
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  return { mean, low: means[Math.floor(0.025 * resamples)]!, high: means[Math.ceil(0.975 * resamples) - 1]!, count }
}

/** Uniformly distributed numbers from 0 to 1 (mulberry32): the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
