import type { EventBatch, Snapshot } from '../engine-reports/callback-bodies.ts'
import { type MirrorMode, ReportSilence } from './report-silence.ts'

/** What the sender is told: taken up to a sequence, or what was expected instead. */
export type Acknowledgement = { readonly sequence: number } | { readonly expected: number }

/** Where the reports about a replica stand. */
export interface MirrorState {
  readonly mode: MirrorMode
  readonly generation: string | undefined
  readonly sequence: number
}

/** Which reports of an engine have been taken, and how far what they say can be trusted (CONTRACT §4). */
export class ReportState {
  #generation: string | undefined
  #sequence = 0
  #mode: MirrorMode = 'fallback'
  /** undefined: what is reported comes from the engine's own events, which know when they are late */
  #silence: ReportSilence | undefined = new ReportSilence()

  /** How far belief can be trusted at a time. */
  modeAt(now: number): MirrorMode {
    return this.#silence ? this.#silence.limit(this.#mode, now) : this.#mode
  }

  /** Where the reports stand at a time. */
  at(now: number): MirrorState {
    return { mode: this.modeAt(now), generation: this.#generation, sequence: this.#sequence }
  }

  /** Whether reports come by callbacks, or none have come yet. */
  get isByCallbacks(): boolean {
    return this.#silence !== undefined
  }

  /** Something came by callbacks, whole and in the protocol's words. */
  heard(now: number): void {
    this.#silence ??= new ReportSilence()
    this.#silence.heard(now)
  }

  /** A long report has begun to come by callbacks; it `ends` when its body was read or given up. */
  hears(ends: Promise<unknown>, now: () => number): void {
    this.#silence ??= new ReportSilence()
    this.#silence.begin(ends, now)
  }

  /** The answer to a batch that is not the next one, which it notes; undefined if it is to be taken. */
  refuse({ generation, sequence }: EventBatch): Acknowledgement | undefined {
    if (generation !== this.#generation) {
      // what is believed is of an engine's life that is over
      if (this.#generation !== undefined) this.#mode = 'degraded'
      return { expected: 0 }
    }
    if (sequence <= this.#sequence) return { sequence }
    if (sequence === this.#sequence + 1) return undefined
    this.#mode = 'degraded'
    return { expected: this.#sequence + 1 }
  }

  /** The answer to a snapshot that is older than what was taken; undefined if it is to be taken. */
  refuseSnapshot({ generation, sequence }: Snapshot): Acknowledgement | undefined {
    const isOld = generation === this.#generation && sequence < this.#sequence
    return isOld ? { sequence: this.#sequence } : undefined
  }

  /** Reports are of this life of the engine from now on; returns whether there was another one before. */
  beginLife(generation: string): 'same' | 'first' | 'next' {
    if (generation === this.#generation) return 'same'
    const life = this.#generation === undefined ? 'first' : 'next'
    this.#generation = generation
    this.#sequence = 0
    return life
  }

  /** All has been taken up to a sequence. */
  took(sequence: number): Acknowledgement {
    this.#sequence = sequence
    this.#mode = 'exact'
    return { sequence }
  }

  /** Goes on where another proxy has got to with the callbacks. */
  adopt(state: MirrorState, now: number): void {
    this.#goOn(state)
    this.heard(now)
  }

  /** Goes on where the engine's own events stand. */
  follow(state: MirrorState): void {
    this.#goOn(state)
    this.#silence = undefined
  }

  #goOn({ mode, generation, sequence }: MirrorState): void {
    this.#mode = mode
    this.#generation = generation
    this.#sequence = sequence
  }
}
