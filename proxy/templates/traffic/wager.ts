/** What is paid for each rank among six, lowest first: it is 1 on average if all ranks are equally likely. */
const payments = [
  [0.5, 0.7, 0.9, 1.1, 1.3, 1.5],
  [0.25, 0.35, 0.5, 0.8, 1.4, 2.7],
] as const
export const ranks: number = payments[0].length

/** Limits of what is believed, as logarithms: evidence that cannot be lost outlives what it was of. */
const lowest = Math.log(1e-3)
const highest = Math.log(1e4)

/**
 * Wealth won by betting that a rank is high, 1 at first. If every rank is equally likely, the probability that it is ever
 * 1,000 or more is 1 in 1,000 at most, however often one looks (Ville's inequality).
 */
export class Wager {
  /** of its wealth, by payment */
  readonly logs: Float64Array = new Float64Array(payments.length)

  /** Bets on a rank that is one of those from `low` to `high`, by a tie. */
  bet(low: number, high: number): void {
    payments.forEach((payment, i) => {
      let sum = 0
      for (let rank = low; rank <= high; rank++) sum += payment[rank]!
      this.logs[i] = clamp(this.logs[i]! + Math.log(sum / (high - low + 1)))
    })
  }

  get wealth(): number {
    return this.logs.reduce((sum, log) => sum + Math.exp(log), 0) / this.logs.length
  }

  /** Whether it was lost in part what could be won at most. */
  get isFalling(): boolean {
    return Math.max(...this.logs) < highest - 1
  }
}

function clamp(log: number): number {
  return Math.min(highest, Math.max(lowest, log))
}
