/** Age buckets, in requests: bucket 0 is age 0; from there on, each is about 1.5 times as long as the one before. */
const buckets = 30
const starts = Float64Array.from({ length: buckets + 1 }, (_, b) => (b === 0 ? 0 : Math.ceil(1.5 ** (b - 1))))
/** Upper ends of the frequency classes; frequencies in a class are treated alike. */
const classEnds = [1, 2, 3, 5, 8, 16, 64, Number.POSITIVE_INFINITY]
/** Prior: as if this many tokens of each class had been seen, with sooner reuse in higher classes. */
const priorTokens = 2_000
const priorHazard = 0.02
/** Observations count half after this many requests. */
const halfLife = 8_192

/**
 * How soon tokens are requested again, by how often they were requested before: for each frequency class, how many
 * tokens were reused at which age, including evicted ones. The value of keeping a token follows from it.
 */
export class ReuseStatistics {
  /** `#begun`, by class: tokens whose wait began; `#ended`, by class and bucket: tokens whose wait ended there */
  readonly #begun: Float64Array = new Float64Array(classEnds.length)
  readonly #ended: Float64Array = new Float64Array(classEnds.length * buckets)
  readonly #values: Float64Array = new Float64Array(classEnds.length * buckets)
  /** weight of a token seen now; raising it is cheaper than lowering all older counts */
  #weight = 1

  constructor() {
    this.settle()
  }

  /** Records tokens requested again after an age in [`least`, `most`), which had been requested `frequency` times. */
  reused(frequency: number, least: number, most: number, tokens: number): void {
    const row = classOf(frequency) * buckets
    for (let b = bucketOf(least); b < buckets; b++) {
      const end = b === buckets - 1 ? most : Math.min(most, starts[b + 1]!)
      const share = (end - Math.max(least, starts[b]!)) / (most - least)
      this.#ended[row + b]! += share * tokens * this.#weight
      if (end === most) return
    }
  }

  /** Records tokens that have now been requested `frequency` times. */
  used(frequency: number, tokens: number): void {
    this.#begun[classOf(frequency)]! += tokens * this.#weight
  }

  passRequest(): void {
    this.#weight *= 2 ** (1 / halfLife)
  }

  /** Returns the expected hits per request of keeping a token for the optimal time, as of the last `settle`. */
  valueOf(frequency: number, age: number): number {
    return this.#values[classOf(frequency) * buckets + bucketOf(age)]!
  }

  /** Recomputes all values. About 7,000 steps at most. */
  settle(): void {
    if (this.#weight > 2 ** 20) this.#scale()
    for (let at = 0; at < classEnds.length; at++) this.#settleClass(at)
  }

  /**
   * Computes the Gittins index of continuing to wait: the highest ratio of hits to waiting time over all stopping ages.
   * A token that has waited longer than any reused one is worth least. A wait that has not ended counts as never
   * ending.
   */
  #settleClass(at: number): void {
    const prior = priorTokens * this.#weight
    const hits = (b: number): number => {
      const width = starts[b + 1]! - starts[b]!
      return this.#ended[at * buckets + b]! + (prior * priorHazard * (at + 1) * width) / (starts[b + 1]! + 8)
    }
    const waiting = new Float64Array(buckets + 1)
    waiting[0] = this.#begun[at]! + prior
    for (let b = 0; b < buckets; b++) waiting[b + 1] = Math.max(prior * 1e-3, waiting[b]! - hits(b))
    for (let from = 0; from < buckets; from++) {
      let [sum, time, best] = [0, 0, 0]
      for (let b = from; b < buckets; b++) {
        sum += hits(b)
        // reused tokens have waited at least half a bucket
        time += (Math.max(waiting[b]! + waiting[b + 1]!, hits(b)) / 2) * (starts[b + 1]! - starts[b]!)
        best = Math.max(best, sum / time)
      }
      this.#values[at * buckets + from] = best
    }
  }

  #scale(): void {
    for (const column of [this.#begun, this.#ended]) {
      for (let at = 0; at < column.length; at++) column[at]! /= this.#weight
    }
    this.#weight = 1
  }
}

function classOf(frequency: number): number {
  let at = 0
  while (frequency > classEnds[at]!) at += 1
  return at
}

function bucketOf(age: number): number {
  let at = 0
  while (at < buckets - 1 && age >= starts[at + 1]!) at += 1
  return at
}
