import { isCount, isObject } from '#engine-adapters/json-object.ts'

/** Log probabilities of the tokens of one answer under three prompts. */
export interface ProofSample {
  /** the one that was answered */
  readonly sent: readonly number[]
  /** the list in another order */
  readonly rewritten: readonly number[]
  /** a change that means nothing, of the same prompt */
  readonly harmless: readonly number[]
}

/** Whether the order of a template's list means anything to the model; only `proved` allows to move it. */
type ProofVerdict = 'proved' | 'refuted' | 'undecided'

/** A mean and the interval that contains it with 95 % confidence. */
interface MeanInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Sums over weighted observations. */
type WeightedSums = readonly [weights: number, squaredWeights: number, values: number, squaredValues: number]

/** What the samples show; log probabilities are in nats, and beyond what the harmless change cost. */
interface ProofFigures<Losses = MeanInterval> {
  readonly samples: number
  /** of all answers: few prove nothing */
  readonly tokens: number
  /** how much less likely a token became, in the mean of an answer */
  readonly loss: Losses
  /** how much less likely the token became that lost most */
  readonly worst: Losses
  /** answers that are those of the order, since a token lost as much as where another document is named */
  readonly dependent: number
}

/** What is kept of all samples, as JSON. */
type ProofRecord = ProofFigures<WeightedSums>

/** From so many samples, and tokens of their answers, on. */
const least = { proved: { samples: 12, tokens: 64 }, refuted: { samples: 4, tokens: 16 } }
/** Losses were measured: lab/benchmarks-history.md, "What a proof by likelihood can see". Of dependent answers: a share. */
const most = { loss: 0.15, worst: 1, dependent: 0.04 }
/** An answer depends on the order if a token becomes 20 times less likely, beyond what the harmless change costs. */
const dependentLoss = Math.log(20)
/** Sums of so many samples are halved, so that what came long ago weighs less. */
const mostSamples = 512
/** A token can lose no more: one improbable word would outweigh all samples. */
const largestLoss = 8
/** An answer of fewer tokens weighs less. */
const fullWeightTokens = 32

/**
 * Collects how likely answers stay if the list of their prompt is put into another order. Keeps sums, no samples. Samples
 * must come from different requests.
 */
export class Proof {
  #record: ProofRecord = { samples: 0, tokens: 0, loss: noSums, worst: noSums, dependent: 0 }

  /** Adds a sample; returns false, without effect, if its lists are not about the same tokens. */
  add({ sent, rewritten, harmless }: ProofSample): boolean {
    const count = sent.length
    if (count === 0 || rewritten.length !== count || harmless.length !== count) return false
    const moved = lossesOf(sent, rewritten)
    const still = lossesOf(sent, harmless)
    if (![...moved, ...still].every(Number.isFinite)) return false
    const weight = Math.min(count, fullWeightTokens) / fullWeightTokens
    const largest = Math.max(0, ...moved) - Math.max(0, ...still)
    const { samples, tokens, loss, worst, dependent } = this.#record
    this.#record = {
      samples: samples + 1,
      tokens: tokens + count,
      loss: withValue(loss, meanOf(moved) - Math.max(0, meanOf(still)), weight),
      worst: withValue(worst, largest, weight),
      // the first words of a short answer tell as much as those of a long one
      dependent: dependent + (largest >= dependentLoss ? 1 : 0),
    }
    if (this.#record.samples >= mostSamples) this.#record = halved(this.#record)
    return true
  }

  get verdict(): ProofVerdict {
    const { samples, tokens, loss, worst, dependent } = this.figures
    const has = (enough: typeof least.proved): boolean => samples >= enough.samples && tokens >= enough.tokens
    // the interval is about that of a Poisson distribution
    const allowed = most.dependent * samples
    const isSeldom = dependent === 0 || dependent + 1 + 2 * Math.sqrt(dependent) <= allowed
    if (has(least.proved) && loss.high <= most.loss && worst.high <= most.worst && isSeldom) return 'proved'
    const isBound = dependent - 2 * Math.sqrt(dependent) > allowed
    return has(least.refuted) && (loss.low > most.loss || worst.low > most.worst || isBound) ? 'refuted' : 'undecided'
  }

  get figures(): ProofFigures {
    const { loss, worst, ...counts } = this.#record
    return { ...counts, loss: intervalOf(loss), worst: intervalOf(worst) }
  }

  /** What `fromRecord` reads, as JSON. */
  toRecord(): ProofRecord {
    return this.#record
  }

  /** Reads a record that may come from anywhere; undefined if it cannot be one. */
  static fromRecord(record: unknown): Proof | undefined {
    if (!isObject(record)) return undefined
    const { samples, tokens, loss, worst, dependent } = record
    // a version that did not count them would prove too much
    if (dependent === undefined) return new Proof()
    if (!isCount(samples) || !isCount(tokens) || tokens < samples) return undefined
    if (!isCount(dependent) || dependent > samples) return undefined
    if (!areSums(loss, samples) || !areSums(worst, samples)) return undefined
    const proof = new Proof()
    proof.#record = { samples, tokens, loss, worst, dependent }
    return proof
  }
}

/** Half of all that was counted; one stays one. */
function halved({ samples, tokens, loss, worst, dependent }: ProofRecord): ProofRecord {
  const half = ([weights, squares, values, squaredValues]: WeightedSums): WeightedSums => {
    return [weights / 2, squares / 2, values / 2, squaredValues / 2]
  }
  const counts = { samples: samples >> 1, tokens: tokens >> 1, dependent: (dependent + 1) >> 1 }
  return { ...counts, loss: half(loss), worst: half(worst) }
}

function lossesOf(sent: readonly number[], other: readonly number[]): number[] {
  return sent.map((logprob, i) => Math.max(-largestLoss, Math.min(largestLoss, logprob - other[i]!)))
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Weights are at most 1 a sample, and values at most twice the largest loss. */
function areSums(value: unknown, samples: number): value is WeightedSums {
  if (!Array.isArray(value) || value.length !== 4 || !value.every(Number.isFinite)) return false
  const [weights, squares, values, squaredValues] = value as unknown as WeightedSums
  const bound = 2 * largestLoss
  if (samples === 0) return value.every((sum) => sum === 0)
  const isWeight = weights > 0 && weights <= samples + 1e-6 && squares > 0 && squares <= weights + 1e-6
  return (
    isWeight &&
    Math.abs(values) <= bound * weights + 1e-6 &&
    squaredValues >= 0 &&
    squaredValues <= bound ** 2 * weights + 1e-6
  )
}

export const noSums: WeightedSums = [0, 0, 0, 0]

/** Adds a weighted observation, of which nothing but four sums is kept. */
export function withValue(sums: WeightedSums, value: number, weight: number): WeightedSums {
  const [weights, squares, values, squaredValues] = sums
  const weighted = weight * value
  return [weights + weight, squares + weight * weight, values + weighted, squaredValues + weighted * value]
}

/** Student's interval for as many observations as the weights are worth; unbounded for less than two. */
export function intervalOf([weights, squares, values, squaredValues]: WeightedSums): MeanInterval {
  const worth = weights === 0 ? 0 : (weights * weights) / squares
  const mean = weights === 0 ? 0 : values / weights
  if (worth <= 1.5) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  const variance = (Math.max(0, squaredValues / weights - mean * mean) * worth) / (worth - 1)
  const half = studentQuantile(worth - 1) * Math.sqrt(variance / worth)
  return { mean, low: mean - half, high: mean + half }
}

/** The 97.5 % quantile of Student's distribution (Cornish and Fisher); 2 % too small for three degrees of freedom. */
function studentQuantile(degrees: number): number {
  const z = 1.959964
  const first = (z ** 3 + z) / 4
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  return z + first / degrees + second / degrees ** 2 + third / degrees ** 3
}
