/** A mean and the interval that contains it with 95 % confidence. */
export interface MeanInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Sums over weighted observations. */
export type WeightedSums = readonly [weights: number, squaredWeights: number, values: number, squaredValues: number]

const normal = 1.959964

/** Adds up weighted observations, of which nothing but four sums is kept, and estimates their mean. */
export class WeightedMean {
  #sums: WeightedSums

  constructor(sums: WeightedSums = [0, 0, 0, 0]) {
    this.#sums = sums
  }

  get sums(): WeightedSums {
    return this.#sums
  }

  add(value: number, weight: number): void {
    const [weights, squares, values, squaredValues] = this.#sums
    const weighted = weight * value
    this.#sums = [weights + weight, squares + weight * weight, values + weighted, squaredValues + weighted * value]
  }

  /** Student's interval for as many observations as the weights are worth; unbounded for less than two. */
  interval(): MeanInterval {
    const [weights, squares, values, squaredValues] = this.#sums
    const worth = weights === 0 ? 0 : (weights * weights) / squares
    const mean = weights === 0 ? 0 : values / weights
    if (worth <= 1.5) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
    const variance = (Math.max(0, squaredValues / weights - mean * mean) * worth) / (worth - 1)
    const half = studentQuantile(worth - 1) * Math.sqrt(variance / worth)
    return { mean, low: mean - half, high: mean + half }
  }
}

/** The 97.5 % quantile of Student's distribution (Cornish and Fisher); 2 % too small for three degrees of freedom. */
function studentQuantile(degrees: number): number {
  const z = normal
  const first = (z ** 3 + z) / 4
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  return z + first / degrees + second / degrees ** 2 + third / degrees ** 3
}
