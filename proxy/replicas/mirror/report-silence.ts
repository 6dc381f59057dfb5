/** How far the mirror of a replica's cache can be trusted (docs/contract.md, Eviction callbacks). */
export type MirrorMode = 'exact' | 'degraded' | 'fallback'

/** Senders with nothing to report still send every two seconds. */
const lateMilliseconds = 3_000
/** After this long without a sender, an engine may have replaced everything it holds. */
const goneMilliseconds = 60_000

/** Tracks how long an engine has been silent, and limits the mode accordingly. */
export class ReportSilence {
  #heardAt = Number.NEGATIVE_INFINITY
  /** reports that are being read: however long they take, their sender is alive */
  #underWay = 0

  /** A complete and valid report has arrived. */
  heard(now: number): void {
    this.#heardAt = now
  }

  /** A report has started to arrive. `ends` settles when its body has been read or abandoned. */
  begin(ends: Promise<unknown>, now: () => number): void {
    this.#underWay += 1
    const end = (): void => {
      this.#underWay -= 1
      this.#heardAt = now()
    }
    ends.then(end, end)
  }

  /** Returns the mode, lowered according to the silence so far. */
  limit(mode: MirrorMode, now: number): MirrorMode {
    const silence = now - this.#heardAt
    if (mode === 'fallback' || this.#underWay > 0 || silence <= lateMilliseconds) return mode
    return silence > goneMilliseconds ? 'fallback' : 'degraded'
  }
}
