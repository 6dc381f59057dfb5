/** Log probabilities of an answer's tokens under three prompts. */
export interface ProofSample {
  readonly received: readonly number[]
  readonly rewritten: readonly number[]
  readonly harmless: readonly number[]
}

export class Proof {
  #n = 0
  #sum = 0
  #squares = 0

  add({ received, rewritten, harmless }: ProofSample): void {
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
    const change = mean(rewritten) - mean(received) - Math.min(0, mean(harmless) - mean(received))
    this.#n += 1
    this.#sum += change
    this.#squares += change * change
  }

  get verdict(): 'proved' | 'refuted' | 'undecided' {
    if (this.#n < 8) return 'undecided'
    return this.#sum / this.#n > -0.2 ? 'proved' : 'refuted'
  }

  get figures(): Readonly<Record<string, number>> {
    return { samples: this.#n, change: this.#sum / Math.max(1, this.#n) }
  }

  toRecord(): unknown {
    return [this.#n, this.#sum, this.#squares]
  }

  static fromRecord(record: unknown): Proof | undefined {
    if (!Array.isArray(record) || record.length !== 3 || !record.every(Number.isFinite)) return undefined
    const proof = new Proof()
    ;[proof.#n, proof.#sum, proof.#squares] = record as [number, number, number]
    return proof
  }
}
