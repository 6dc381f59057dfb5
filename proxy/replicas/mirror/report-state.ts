import type { EventBatch, Snapshot } from '../reports/callback-bodies.ts'

/** How far the mirror of a replica's cache can be trusted (docs/contract.md, Eviction callbacks). */
export type MirrorMode = 'exact' | 'degraded' | 'fallback'

/** Senders with nothing to report still send every two seconds. */
const lateMilliseconds = 3_000
/** After this long without a sender, an engine may have replaced everything it holds. */
const goneMilliseconds = 60_000

/** The answer to the sender: the sequence up to which reports are taken, or the one expected instead. */
export type Acknowledgement = { readonly sequence: number } | { readonly expected: number }

/** The state of the reports about a replica. */
export interface MirrorState {
  readonly mode: MirrorMode
  readonly generation: string | undefined
  readonly sequence: number
}

/** Tracks which reports of an engine have been taken, and how far they can be trusted (docs/contract.md, Eviction callbacks). */
export class ReportState {
  #generation: string | undefined
  #sequence = 0
  #mode: MirrorMode = 'fallback'
  /** Reports come by callbacks, or none have come yet; otherwise by the engine's own events, which detect lateness themselves. */
  isByCallbacks = true
  #heardAt = Number.NEGATIVE_INFINITY
  /** callbacks that are being read: however long they take, their sender is alive */
  #underWay = 0

  /** How far the mirror can be trusted at a time: by callbacks the less, the longer they have been silent. */
  modeAt(now: number): MirrorMode {
    const silence = now - this.#heardAt
    const isHeard = !this.isByCallbacks || this.#underWay > 0 || silence <= lateMilliseconds
    if (this.#mode === 'fallback' || isHeard) return this.#mode
    return silence > goneMilliseconds ? 'fallback' : 'degraded'
  }

  /** The state of the reports at a time. */
  at(now: number): MirrorState {
    return { mode: this.modeAt(now), generation: this.#generation, sequence: this.#sequence }
  }

  /** A complete and valid callback has arrived. */
  heard(now: number): void {
    this.isByCallbacks = true
    this.#heardAt = now
  }

  /** A long callback has started to arrive. `ends` settles when its body has been read or abandoned. */
  hears(ends: Promise<unknown>, now: () => number): void {
    this.isByCallbacks = true
    this.#underWay += 1
    const end = (): void => {
      this.#underWay -= 1
      this.#heardAt = now()
    }
    ends.then(end, end)
  }

  /** Returns the answer to a batch that is not the next one, and notes any gap; undefined: take the batch. */
  refuse({ generation, sequence }: EventBatch): Acknowledgement | undefined {
    if (generation !== this.#generation) {
      // the mirror describes a generation of the engine that is over
      if (this.#generation !== undefined) this.#mode = 'degraded'
      return { expected: 0 }
    }
    if (sequence <= this.#sequence) return { sequence }
    if (sequence === this.#sequence + 1) return undefined
    this.#mode = 'degraded'
    return { expected: this.#sequence + 1 }
  }

  /** Returns the answer to a snapshot older than the state; undefined: take the snapshot. */
  refuseSnapshot({ generation, sequence }: Snapshot): Acknowledgement | undefined {
    const isOld = generation === this.#generation && sequence < this.#sequence
    return isOld ? { sequence: this.#sequence } : undefined
  }

  /** Starts or continues a generation of the engine. Returns whether it is the same, the first or another one. */
  beginLife(generation: string): 'same' | 'first' | 'restarted' {
    if (generation === this.#generation) return 'same'
    const life = this.#generation === undefined ? 'first' : 'restarted'
    this.#generation = generation
    this.#sequence = 0
    return life
  }

  /** Everything up to a sequence has been taken. */
  took(sequence: number): Acknowledgement {
    this.#sequence = sequence
    this.#mode = 'exact'
    return { sequence }
  }

  /** Continues from the state that another proxy has reached with the callbacks. */
  adopt(state: MirrorState, now: number): void {
    this.#goOn(state)
    this.heard(now)
  }

  /** Continues from the state of the engine's own events. */
  follow(state: MirrorState): void {
    this.#goOn(state)
    this.isByCallbacks = false
  }

  #goOn({ mode, generation, sequence }: MirrorState): void {
    this.#mode = mode
    this.#generation = generation
    this.#sequence = sequence
  }
}
