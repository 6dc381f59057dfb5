/** How far what is believed of a replica's cache can be trusted (CONTRACT §4). */
export type MirrorMode = 'exact' | 'degraded' | 'fallback'

/** Senders that have nothing to tell say so every two seconds. */
const lateMilliseconds = 3_000
/** By then an engine that has no sender any more may have changed all it holds. */
const goneMilliseconds = 60_000

/** How long nothing was heard of an engine, and what that means for what is believed. */
export class ReportSilence {
  #heardAt = Number.NEGATIVE_INFINITY
  /** reports that are being read: however long they are, whoever sends them is there */
  #underWay = 0

  /** Something came, whole and in the protocol's words. */
  heard(now: number): void {
    this.#heardAt = now
  }

  /** A report has begun to come; it `ends` when its body was read or given up. */
  begin(ends: Promise<unknown>, now: () => number): void {
    this.#underWay += 1
    const end = (): void => {
      this.#underWay -= 1
      this.#heardAt = now()
    }
    ends.then(end, end)
  }

  /** What a mode is worth by now. */
  limit(mode: MirrorMode, now: number): MirrorMode {
    const silence = now - this.#heardAt
    if (mode === 'fallback' || this.#underWay > 0 || silence <= lateMilliseconds) return mode
    return silence > goneMilliseconds ? 'fallback' : 'degraded'
  }
}
