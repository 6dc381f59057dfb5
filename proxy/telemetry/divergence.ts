/** The latest requests weigh most; one counts for this share. */
const share = 1 / 32

/** How far the mirrors' predictions are from what the engines report, by replica: a running mean without sign. */
export class Divergence {
  readonly #tokens = new Map<string, number>()

  /** A request on this replica was predicted to find so many cached tokens, and found so many. */
  note(replica: string, predicted: number, reported: number): void {
    const off = Math.abs(predicted - reported)
    const before = this.#tokens.get(replica)
    this.#tokens.set(replica, before === undefined ? off : before + (off - before) * share)
  }

  /** Tokens a prediction is off by, on average; undefined before the first report. */
  of(replica: string): number | undefined {
    return this.#tokens.get(replica)
  }
}
