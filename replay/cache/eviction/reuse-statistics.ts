/** Ages, in requests: bucket 0 is age 0, from there on each is longer than the one before by half. */
const buckets = 30
const starts = Float64Array.from({ length: buckets + 1 }, (_, b) => (b === 0 ? 0 : Math.ceil(1.5 ** (b - 1))))
/** Frequencies that are judged alike. */
const classEnds = [1, 2, 3, 5, 8, 16, 64, Number.POSITIVE_INFINITY]
/** As if so many tokens of each class had been seen, reused the sooner the more often they were before. */
const priorTokens = 2_000
const priorHazard = 0.02
/** What was seen counts half after so many requests. */
const halfLife = 8_192

/**
 * How soon what has been asked for so often is asked for again: of each class of frequency, how many tokens were reused
 * at which age, those that had been evicted meanwhile included. From it comes what a token is worth that is kept.
 */
export class ReuseStatistics {
  /** by class: tokens whose wait began; by class and bucket: tokens whose wait ended there */
  readonly #begun: Float64Array = new Float64Array(classEnds.length)
  readonly #ended: Float64Array = new Float64Array(classEnds.length * buckets)
  readonly #values: Float64Array = new Float64Array(classEnds.length * buckets)
  /** what a token seen now counts: it rises, which is cheaper than to lower all that was seen */
  #weight = 1

  constructor() {
    this.settle()
  }

  /** Tokens that had been asked for so often are asked for again, from `least` up to less than `most` requests later. */
  reused(frequency: number, least: number, most: number, tokens: number): void {
    const row = classOf(frequency) * buckets
    for (let b = bucketOf(least); b < buckets; b++) {
      const end = b === buckets - 1 ? most : Math.min(most, starts[b + 1]!)
      const share = (end - Math.max(least, starts[b]!)) / (most - least)
      this.#ended[row + b]! += share * tokens * this.#weight
      if (end === most) return
    }
  }

  /** Tokens have been asked for so often by now. */
  used(frequency: number, tokens: number): void {
    this.#begun[classOf(frequency)]! += tokens * this.#weight
  }

  passRequest(): void {
    this.#weight *= 2 ** (1 / halfLife)
  }

  /** Hits that a token brings for each request that it is kept, if it is kept as long as that is best. Of the last `settle`. */
  valueOf(frequency: number, age: number): number {
    return this.#values[classOf(frequency) * buckets + bucketOf(age)]!
  }

  /** Values anew: 7,000 steps. */
  settle(): void {
    if (this.#weight > 2 ** 20) this.#scale()
    for (let at = 0; at < classEnds.length; at++) this.#settleClass(at)
  }

  /**
   * The Gittins index of going on to wait: over all ages to stop at, the most hits for the time that is waited. What has
   * waited longer than any that was reused is worth least, and a wait that has not ended yet counts as one that never does.
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
        // what is reused has waited half a bucket at least
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
