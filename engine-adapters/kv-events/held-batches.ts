import type { KvEventBatch } from './kv-event.ts'

interface SequencedBatch {
  readonly sequence: number
  readonly batch: KvEventBatch
}

/** At most this many batches are held while an earlier one is missing; dropped batches leave a gap. */
const maxHeld = 20_000

/** Batches that came before their turn, each only once. */
export class HeldBatches {
  readonly #batches = new Map<number, KvEventBatch>()

  /** Holds a batch. Of two with the same sequence it keeps the later one: the other's life has ended. */
  add(sequence: number, batch: KvEventBatch): void {
    const known = this.#batches.get(sequence)
    if (known ? known.time < batch.time : this.#batches.size < maxHeld) this.#batches.set(sequence, batch)
  }

  clear(): void {
    this.#batches.clear()
  }

  /** Returns the held batches in the order of the engine's clock, and forgets them. */
  take(): SequencedBatch[] {
    const taken = Array.from(this.#batches, ([sequence, batch]) => ({ sequence, batch }))
    this.#batches.clear()
    return taken.sort((a, b) => a.batch.time - b.batch.time || a.sequence - b.sequence)
  }
}
