import type { KvEventBatch } from './kv-event.ts'

/** A batch and its place in an engine's life. */
export interface SequencedBatch {
  readonly sequence: number
  readonly batch: KvEventBatch
}

/** More batches are not held while something in front of them is missing; what is dropped is a gap afterwards. */
const maxHeld = 20_000

/** Batches that came before their turn, each once. */
export class HeldBatches {
  readonly #batches = new Map<number, KvEventBatch>()

  /** Holds a batch; of two with one sequence the later one, as the other's life has ended. */
  add(sequence: number, batch: KvEventBatch): void {
    const known = this.#batches.get(sequence)
    if (known ? known.time < batch.time : this.#batches.size < maxHeld) this.#batches.set(sequence, batch)
  }

  clear(): void {
    this.#batches.clear()
  }

  /** Hands out what is held as it was published, by the engine's clock, and holds it no more. */
  take(): SequencedBatch[] {
    const taken = Array.from(this.#batches, ([sequence, batch]) => ({ sequence, batch }))
    this.#batches.clear()
    return taken.sort((a, b) => a.batch.time - b.batch.time || a.sequence - b.sequence)
  }
}
