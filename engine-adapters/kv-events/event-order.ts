import type { KvEventBatch } from './kv-event.ts'

interface OrderListener {
  /** The next batch of the engine's current life; a restart begins another life. */
  onBatch(batch: KvEventBatch): void
  /** Everything heard before is void. */
  onLost(reason: LossReason): void
  /** Requests all batches from a sequence on: call `replayed` for each, then `replayEnded`; or `replayFailed`. */
  askReplay(from: number): void
}

/**
 * Why what is known is discarded. `restarted`: the engine was restarted. `missed`: missed batches cannot be recovered.
 * `found`: they can be recovered after all, and the engine replays everything from its beginning.
 */
export type LossReason = 'restarted' | 'missed' | 'found'

/** State of an engine's batches. None received yet; none missing; or some still to come, or lost for good. */
export type OrderState = 'silent' | 'whole' | 'incomplete'

/** At most this many batches are held while an earlier one is missing; dropped batches leave a gap. */
const maxHeld = 20_000

/** After this many replays without progress, a remaining gap is considered permanent. */
const maxFruitless = 2

/**
 * Puts an engine's batches in order. Drops repeats, fills gaps by replays, and detects a restarted engine by its clock
 * (a known sequence with a later time) or by a replay without the last batch heard. Replays lose batches too: engines
 * send them through a queue that drops what does not fit. So a replay is requested again from the first missing batch,
 * while that makes progress.
 */
export class EventOrder {
  readonly #listener: OrderListener
  readonly #canReplay: boolean
  /** the last batch taken; -1: the engine's first batch comes next; undefined: any batch may come next */
  #last: number | undefined
  #lastTime = Number.NEGATIVE_INFINITY
  /** nothing is missing since the engine started or was cleared */
  #isWhole = false
  #isReplaying = false
  /** the current replay only asks whether something was missed */
  #isCheck = false
  /** the connection was lost since the last batch: the next may be of another life */
  #isDoubtful = false
  /** the connection was lost or restored during the current replay, which proves nothing about later batches */
  #hasChanged = false
  /** the engine did not answer the last replay request */
  #isUnanswered = false
  /** the current replay contains the last batch heard */
  #isVerified = false
  /** the current replay began in the middle of an unknown life: it must be requested again */
  #isOfAnotherLife = false
  /** the current replay has a gap, or broke off when more might have come */
  #isLossy = false
  /** the current replay has delivered the first missing batch */
  #isFruitful = false
  /** the batch before which something is missing; undefined: no gap */
  #gapBefore: number | undefined
  /** replays without progress on that gap */
  #fruitless = 0
  /** the engine's first batches are missing, and were given up only because the engine did not answer */
  #isPastAskable = false
  /** the current replay is for the engine's first batches */
  #isFromBeginning = false
  /** batches that came before their turn, by sequence */
  readonly #held = new Map<number, KvEventBatch>()
  #gaps = 0

  constructor(listener: OrderListener, canReplay: boolean) {
    this.#listener = listener
    this.#canReplay = canReplay
  }

  /** How many gaps there were. */
  get gaps(): number {
    return this.#gaps
  }

  /** The sequence of the last batch taken. */
  get last(): number | undefined {
    return this.#last === -1 ? undefined : this.#last
  }

  get state(): OrderState {
    if (this.last === undefined && !this.#isWhole) return 'silent'
    return this.#isWhole && !this.#isDoubtful && !this.#isUnanswered && (!this.#isReplaying || this.#isCheck)
      ? 'whole'
      : 'incomplete'
  }

  /** Whether something is missing that the engine may replay once it answers, so that a `check` is worthwhile. */
  get isPastAskable(): boolean {
    return this.#isPastAskable && !this.#isWhole
  }

  /** Asks whether anything was missed: at the start, when the connection is restored, and in silence. */
  check(): void {
    if (!this.#canReplay) return
    if (this.#isReplaying) {
      this.#hasChanged = true
      return
    }
    if (this.#last === undefined) this.#last = -1
    this.#isFromBeginning = this.isPastAskable
    this.#replay(this.#isWhole)
  }

  /** The connection is lost: the next batch may be of another life, or leave a gap. */
  disconnected(): void {
    this.#isDoubtful = true
    this.#hasChanged = this.#isReplaying
    // held batches may be of the life that ended; if it did not, a replay contains them
    this.#held.clear()
  }

  /** Takes a batch as it is published. */
  published(sequence: number, batch: KvEventBatch): void {
    if (this.#isReplaying) this.#hold(sequence, batch)
    else this.#take(sequence, batch)
  }

  /** Takes a batch of the requested replay. */
  replayed(sequence: number, batch: KvEventBatch): void {
    if (!this.#isReplaying || this.#isOfAnotherLife) return
    if (this.#isFromBeginning) this.#beginAnew(sequence)
    const last = this.#last ?? -1
    if (sequence < last) return
    if (sequence === last) {
      this.#verify(sequence, batch)
      return
    }
    if (sequence === last + 1 && (last < 0 || this.#isVerified)) {
      this.#isVerified = true
      this.#isFruitful = true
      this.#accept(sequence, batch)
      return
    }
    this.#isLossy = true
    this.#hold(sequence, batch)
  }

  #beginAnew(sequence: number): void {
    this.#isFromBeginning = false
    this.#isPastAskable = false
    // the engine no longer has its first batches: keep what is known
    if (sequence > 0) return
    this.#last = -1
    this.#lastTime = Number.NEGATIVE_INFINITY
    this.#listener.onLost('found')
  }

  /** Checks whether the replay contains the last batch heard; otherwise the engine was restarted. */
  #verify(sequence: number, batch: KvEventBatch): void {
    this.#isVerified = batch.time === this.#lastTime
    if (this.#isVerified) return
    this.#restart()
    this.#isVerified = true
    if (sequence === 0) this.#accept(sequence, batch)
    else this.#isOfAnotherLife = true
  }

  /** The requested replay is complete. */
  replayEnded(): void {
    if (!this.#isReplaying) return
    if (!this.#hasChanged) this.#isDoubtful = false
    this.#isUnanswered = false
    if (this.#last !== undefined && this.#last >= 0 && !this.#isVerified) {
      // it is unknown whether later batches are of the same life
      if (this.#isLossy) this.#isDoubtful = true
      else {
        this.#restart()
        this.#isOfAnotherLife = true
      }
    }
    if (this.#isOfAnotherLife) {
      this.#replay(false)
      return
    }
    // an engine that has published nothing caches nothing
    if (this.#last === -1 && !this.#isLossy) this.#isWhole = true
    this.#endReplay()
  }

  /** The engine did not answer the requested replay. */
  replayFailed(): void {
    if (!this.#isReplaying) return
    this.#isUnanswered = true
    this.#isLossy = true
    if (this.#last === -1) this.#last = undefined
    this.#endReplay()
  }

  #take(sequence: number, batch: KvEventBatch): void {
    const last = this.#last
    if (last === undefined) {
      if (!this.#canReplay || (sequence === 0 && !this.#isDoubtful)) this.#accept(sequence, batch)
      else this.#fill(-1, sequence, batch)
    } else if (sequence === last + 1) {
      if (this.#isDoubtful && last >= 0 && this.#canReplay) this.#fill(last, sequence, batch)
      else this.#accept(sequence, batch)
    } else if (sequence > last) {
      this.#countGap(sequence)
      this.#fill(last, sequence, batch)
    } else if (batch.time > this.#lastTime) {
      this.#restart()
      this.#take(sequence, batch)
    }
  }

  #countGap(before: number): void {
    if (before !== this.#gapBefore) this.#gaps += 1
  }

  #fill(last: number, sequence: number, batch: KvEventBatch): void {
    if (sequence !== this.#gapBefore) this.#fruitless = 0
    else if (!this.#isLossy || !this.#isFruitful) this.#fruitless += 1
    this.#gapBefore = sequence
    this.#last = last
    if (this.#canReplay && this.#fruitless < maxFruitless) {
      this.#hold(sequence, batch)
      this.#replay(false)
      return
    }
    this.#skip()
    this.#accept(sequence, batch)
  }

  #replay(isCheck: boolean): void {
    this.#isReplaying = true
    this.#isCheck = isCheck
    this.#isVerified = false
    this.#isOfAnotherLife = false
    this.#isLossy = false
    this.#isFruitful = false
    this.#listener.askReplay(this.#isFromBeginning ? 0 : Math.max(0, this.#last ?? 0))
  }

  #endReplay(): void {
    this.#isReplaying = false
    this.#isFromBeginning = false
    const held = [...this.#held].sort(([a, one], [b, other]) => one.time - other.time || a - b)
    this.#held.clear()
    for (const [sequence, batch] of held) {
      // a held batch may be of a life that has ended since; a gap among the others may start another replay
      if (batch.time >= this.#lastTime) this.published(sequence, batch)
    }
    if (this.#isReplaying) return
    this.#gapBefore = undefined
    if (!this.#hasChanged) return
    this.#hasChanged = false
    this.check()
  }

  /** Of two batches with the same sequence it keeps the later one: the other's life has ended. */
  #hold(sequence: number, batch: KvEventBatch): void {
    const known = this.#held.get(sequence)
    if (known ? known.time < batch.time : this.#held.size < maxHeld) this.#held.set(sequence, batch)
  }

  #accept(sequence: number, batch: KvEventBatch): void {
    this.#last = sequence
    this.#lastTime = batch.time
    if (!this.#isReplaying) {
      this.#gapBefore = undefined
      if (!this.#canReplay) this.#isDoubtful = false
    }
    if (sequence === 0 || batch.events.some(({ type }) => type === 'cleared')) this.#isWhole = true
    this.#listener.onBatch(batch)
  }

  #restart(): void {
    this.#last = -1
    this.#lastTime = Number.NEGATIVE_INFINITY
    this.#isWhole = true
    this.#listener.onLost('restarted')
  }

  /** Gives up what is missing. If nothing was heard before, nothing is lost, but the engine's cache remains unknown. */
  #skip(): void {
    const hadHeard = this.last !== undefined
    this.#isWhole = false
    this.#gapBefore = undefined
    this.#isPastAskable = this.#canReplay && this.#isUnanswered
    this.#isDoubtful = false
    this.#last = undefined
    if (hadHeard) this.#listener.onLost('missed')
  }
}
